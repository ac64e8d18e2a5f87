// run.cpp: see run.hpp.
// SPDX-License-Identifier: MIT
#include "replay/run.hpp"

#include <time.h>

namespace drey::cuda::replay {
namespace {
double thread_cpu_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// False for an allocation that failed.
bool apply(Policy& policy, const trace::Event& event) {
  switch (event.action) {
    case TraceAction::kAllocate:
      return policy.allocate(event.block, event.bytes, event.stream);
    case TraceAction::kFree:
      policy.deallocate(event.block);
      return true;
    case TraceAction::kFreeOn:
      policy.deallocate(event.block, event.stream);
      return true;
    case TraceAction::kRecordStream:
      policy.record_stream(event.block, event.stream);
      return true;
    case TraceAction::kRecordUse:
      policy.record_use(event.block, event.stream);
      return true;
    case TraceAction::kWait:
      policy.wait(event.stream, event.block);
      return true;
    case TraceAction::kSynchronize:
      policy.synchronize(event.stream);
      return true;
    case TraceAction::kMap:
    case TraceAction::kUnmap:
    case TraceAction::kOutOfMemory:
      return true;  // no trace has these
  }
  return true;
}
}  // namespace

Run run_events(const trace::DeviceTrace& trace, Policy& policy, std::size_t count) {
  Run run;
  run.fits = true;
  const double begin = thread_cpu_ns();
  for (std::size_t index = 0; index < count && run.fits; ++index) {
    run.fits = apply(policy, trace.events[index]);
    if (!run.fits) run.failed_event = index;
  }
  run.cpu_ns_per_event = (thread_cpu_ns() - begin) / static_cast<double>(count == 0 ? 1 : count);
  run.counts = policy.counts();
  return run;
}

Run run_trace(const trace::DeviceTrace& trace, MakePolicy make, std::uint64_t capacity) {
  const std::unique_ptr<Policy> policy = make(capacity);
  return run_events(trace, *policy, trace.events.size());
}

Capacity search_capacity(const trace::DeviceTrace& trace, MakePolicy make, std::uint64_t step) {
  const auto round_up = [step](std::uint64_t bytes) { return (bytes + step - 1) / step * step; };
  Capacity best;
  best.run = run_trace(trace, make, kNoLimit);
  best.runs = 1;
  best.bytes = round_up(best.run.counts.peak_reserved_bytes);
  std::uint64_t too_little = round_up(trace::peak_live_bytes(trace));
  too_little = too_little < step ? 0 : too_little - step;
  while (best.bytes > too_little + step) {
    const std::uint64_t middle = too_little + round_up((best.bytes - too_little) / 2);
    const Run run = run_trace(trace, make, middle);
    ++best.runs;
    if (run.fits) {
      best.bytes = middle;
      best.run = run;
    } else {
      too_little = middle;
    }
  }
  return best;
}
}  // namespace drey::cuda::replay
