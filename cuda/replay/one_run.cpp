// one_run.cpp: see one_run.hpp.
// SPDX-License-Identifier: MIT
#include "replay/one_run.hpp"

#include "replay/policies.hpp"

#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/trace/allocator_views.hpp>
#include <drey/cuda/trace/error.hpp>
#include <drey/cuda/trace/json_text.hpp>
#include <drey/cuda/trace_recorder.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <vector>

namespace drey::cuda::replay {
namespace {
using trace::BadInput;

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
constexpr std::size_t kEventsKept = std::size_t{1} << 18;  // of a snapshot's history, the newest

std::size_t peak_event(const trace::DeviceTrace& trace) {
  std::vector<std::uint64_t> bytes(trace.blocks);
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  std::size_t found = 0;
  for (std::size_t index = 0; index < trace.events.size(); ++index) {
    const trace::Event& event = trace.events[index];
    if (event.action == TraceAction::kAllocate) {
      live += bytes[event.block] = event.bytes;
    } else if (event.action == TraceAction::kFree || event.action == TraceAction::kFreeOn) {
      live -= bytes[event.block];
    }
    if (live <= peak) continue;
    peak = live;
    found = index;
  }
  return found;
}

// The event behind which the run ends.
std::size_t last_event(const trace::DeviceTrace& trace, const std::string& moment) {
  const std::size_t count = trace.events.size();
  if (moment.empty() || moment == "oom") return count - 1;
  if (moment == "peak") return peak_event(trace);
  std::size_t event = 0;
  const char* const end = moment.data() + moment.size();
  const auto [stop, error] = std::from_chars(moment.data(), end, event);
  if (error != std::errc() || stop != end || event >= count)
    throw BadInput("--at: expected peak, oom or an event from 0 to " + std::to_string(count - 1) +
                   ", found '" + moment + "'");
  return event;
}

// The driver of this process, started.
const LoadedDriver& real_driver() {
  static const LoadedDriver driver = load_driver();
  if (driver.reason.length() != 0)
    throw BadInput(std::string("--driver real: ") + driver.reason.c_str());
  int devices = 0;
  if (driver.table.init(0) != Result::kSuccess ||
      driver.table.device_get_count(&devices) != Result::kSuccess || devices == 0)
    throw BadInput("--driver real: expected a device, found none");
  return driver;
}

class Recording {
 public:
  Recording() : records_(kEventsKept) {
    static_cast<void>(start_recording(kEventsKept));
    static_cast<void>(read_records(records_));  // of an earlier one
    begin_ = trace_moment();
  }
  ~Recording() { stop_recording(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  std::string pickle(const DeviceAllocator& allocator) {
    const std::size_t count = read_records(records_);
    return trace::pickle_of(
        trace::snapshot_of(allocator, {records_.data(), count}, begin_, trace_moment()));
  }

 private:
  std::vector<TraceRecord> records_;
  TraceMoment begin_;
};

void take_snapshot(const OneRunOptions& options, Policy& policy, Recording& recording,
                   std::size_t last, OneRun& once) {
  if (options.snapshot_at == "oom" && once.run.fits)
    throw BadInput("--at oom: expected an allocation that fails, found none in " +
                   std::to_string(once.capacity) + " bytes; --capacity gives less");
  if (options.snapshot_at != "oom" && !once.run.fits)
    throw BadInput("--at " + options.snapshot_at + ": out of memory at event " +
                   std::to_string(once.run.failed_event) + " already; --capacity gives more");
  once.snapshot_event = once.run.fits ? last : once.run.failed_event;
  once.snapshot = recording.pickle(*policy.allocator());
}
}  // namespace

OneRun run_once(const trace::DeviceTrace& trace, const OneRunOptions& options) {
  OneRun once;
  once.driver = "simulated";
  once.capacity = options.capacity;
  const std::size_t last = last_event(trace, options.snapshot_at);
  std::unique_ptr<Policy> policy;
  if (options.on_real_driver) {
    const LoadedDriver& driver = real_driver();
    once.driver = std::to_string(driver.version);
    if (once.capacity == 0)
      once.capacity = (trace::peak_live_bytes(trace) / 100 * 102 / kPage + 1) * kPage;
    policy = make_drey_policy_on(driver.table, once.capacity);
  } else {
    if (once.capacity == 0) once.capacity = kNoLimit;
    policy = make_drey_policy(once.capacity);
  }
  Recording recording;
  if (!options.snapshot_at.empty()) policy->allocator()->set_observer(&recording_observer());
  const auto begin = std::chrono::steady_clock::now();
  once.run = run_events(trace, *policy, last + 1);
  once.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.snapshot_at.empty()) {
    policy->allocator()->set_observer(nullptr);
    take_snapshot(options, *policy, recording, last, once);
  }
  return once;
}

std::string line_of(const std::string& source, const OneRun& once) {
  char line[300];
  std::snprintf(
      line, sizeof line,
      "%s on driver %s, %.0f MiB: %s; peak %.0f MiB, %llu pages moved, %llu events, %.3f s, %.0f "
      "ns/event\n",
      source.c_str(), once.driver.c_str(), static_cast<double>(once.capacity) / (1 << 20),
      once.run.fits ? "fits"
                    : ("out of memory at event " + std::to_string(once.run.failed_event)).c_str(),
      static_cast<double>(once.run.counts.peak_reserved_bytes) / (1 << 20),
      static_cast<unsigned long long>(once.run.counts.page_moves),
      static_cast<unsigned long long>(once.run.counts.events), once.seconds,
      once.run.cpu_ns_per_event);
  return line;
}

std::string json_of(const std::string& source, const trace::DeviceTrace& trace,
                    const OneRun& once) {
  trace::JsonText json;
  json.open('{');
  json.add("trace", source);
  json.add("driver", once.driver);
  json.add("events", std::uint64_t{trace.events.size()});
  json.add("peak_live_bytes", trace::peak_live_bytes(trace));
  json.add("capacity_bytes", once.capacity);
  json.add("fits", std::uint64_t{once.run.fits});
  json.add("failed_event", std::uint64_t{once.run.failed_event});
  json.add("peak_reserved_bytes", once.run.counts.peak_reserved_bytes);
  json.add("page_moves", once.run.counts.page_moves);
  json.add("events_recorded", once.run.counts.events);
  json.add("stream_waits", once.run.counts.waits);
  json.add("seconds", once.seconds);
  json.add("cpu_ns_per_event", once.run.cpu_ns_per_event);
  json.close('}');
  return json.text() + "\n";
}
}  // namespace drey::cuda::replay
