// record_observer.cpp: the device allocator's events go into the calling thread's ring.
// Read next: trace_recorder.cpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace_recorder.hpp>

#include <cstdint>

namespace drey::cuda {
namespace {
// Handles are addresses or small numbers; a record has 32 bits for one. A mix of all bits, so that two
// streams share a number only by a chance of one in 2^32.
std::uint32_t number_of(Stream stream) noexcept {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(std::uint64_t{handle} * kOdd >> 32);
}

void observe(void* /*context*/, const AllocatorEvent& event) noexcept {
  std::uint64_t bytes = event.bytes;
  TraceAction action = TraceAction::kAllocate;
  switch (event.kind) {
    case EventKind::kAllocate:
      bytes = event.requested;
      break;
    case EventKind::kFree:
      action = TraceAction::kFreeOn;
      break;
    case EventKind::kRecordStream:
      action = TraceAction::kRecordStream;
      break;
    case EventKind::kRecordUse:
      action = TraceAction::kRecordUse;
      break;
    case EventKind::kMap:
      action = TraceAction::kMap;
      break;
    case EventKind::kUnmap:
      action = TraceAction::kUnmap;
      break;
    case EventKind::kOutOfMemory:
      action = TraceAction::kOutOfMemory;
      bytes = event.requested;
      break;
    case EventKind::kSleep:
    case EventKind::kWake:
      return;  // what moves then is told by kUnmap and kMap
  }
  record_event(action, reinterpret_cast<std::uintptr_t>(event.pointer), bytes,
               number_of(event.stream), static_cast<std::uint8_t>(event.device));
}

constexpr Observer kRecorder{observe, nullptr};
}  // namespace

const Observer& recording_observer() noexcept {
  return kRecorder;
}
}  // namespace drey::cuda
