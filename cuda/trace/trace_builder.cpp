// trace_builder.cpp: see trace_builder.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/trace_builder.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace drey::cuda::trace {
std::string hex_text(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void TraceBuilder::fail(const std::string& what, const std::string& expected,
                        const std::string& found) const {
  throw BadInput(source_ + ": " + unit_ + " " + std::to_string(number_) + ": " + what +
                 ": expected " + expected + ", found " + found);
}

std::uint32_t TraceBuilder::number_of(Numbers& numbers, std::uint64_t name) {
  return numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
}

void TraceBuilder::add_allocate(const RawEvent& raw, Event& event) {
  if (raw.bytes == 0 || raw.bytes > kBlockBytesMax)
    fail("size", "1 to 2^48 bytes", std::to_string(raw.bytes));
  if (raw.bytes > kBlockBytesMax - live_bytes_)
    fail("size", "at most 2^48 bytes in all live blocks", std::to_string(raw.bytes) + " more");
  const bool is_new = live_.emplace(raw.pointer, Live{trace_.blocks, raw.bytes}).second;
  if (!is_new) fail("pointer", "one that is free", hex_text(raw.pointer) + ", a live block");
  event.block = trace_.blocks++;
  event.bytes = raw.bytes;
  live_bytes_ += raw.bytes;
}

TraceBuilder::Live TraceBuilder::find_live(const RawEvent& raw) const {
  const auto found = live_.find(raw.pointer);
  if (found == live_.end()) fail("pointer", "a live block", hex_text(raw.pointer));
  return found->second;
}

void TraceBuilder::add(const RawEvent& raw) {
  if (trace_.events.empty()) first_ns_ = latest_ns_ = raw.time_ns;
  latest_ns_ = std::max(latest_ns_, raw.time_ns);
  Event event;
  event.action = raw.action;
  switch (raw.action) {
    case TraceAction::kAllocate:
      add_allocate(raw, event);
      break;
    case TraceAction::kFree:
    case TraceAction::kFreeOn: {
      const Live live = find_live(raw);
      if (raw.bytes != 0 && raw.bytes != live.bytes)
        fail("size", std::to_string(live.bytes) + ", the block's", std::to_string(raw.bytes));
      event.block = live.block;
      live_bytes_ -= live.bytes;
      live_.erase(raw.pointer);
      break;
    }
    case TraceAction::kRecordStream:
    case TraceAction::kRecordUse:
      event.block = find_live(raw).block;
      break;
    case TraceAction::kWait:
      event.block = number_of(streams_, raw.pointer);
      break;
    case TraceAction::kSynchronize:
      break;
    case TraceAction::kMap:
    case TraceAction::kUnmap:
    case TraceAction::kOutOfMemory:
      return;  // what the allocator did, not what it was asked
  }
  event.stream = number_of(streams_, raw.stream);
  event.thread = number_of(threads_, raw.thread);
  event.time_ns = latest_ns_ - first_ns_;
  trace_.events.push_back(event);
}

DeviceTrace TraceBuilder::finish() {
  trace_.streams = static_cast<std::uint32_t>(streams_.size());
  trace_.threads = static_cast<std::uint32_t>(threads_.size());
  return std::exchange(trace_, {});
}

std::uint64_t peak_live_bytes(const DeviceTrace& trace) {
  std::vector<std::uint64_t> bytes(trace.blocks, 0);
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  for (const Event& event : trace.events) {
    if (event.action == TraceAction::kAllocate) {
      bytes[event.block] = event.bytes;
      live += event.bytes;
    } else if (event.action == TraceAction::kFree || event.action == TraceAction::kFreeOn) {
      live -= bytes[event.block];
    }
    peak = std::max(peak, live);
  }
  return peak;
}
}  // namespace drey::cuda::trace
