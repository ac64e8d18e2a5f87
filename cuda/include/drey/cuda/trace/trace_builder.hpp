// trace_builder.hpp: makes a DeviceTrace of events that name blocks by pointers and streams by handles,
// and refuses what no allocator can have done.
// Invariant: what finish() gives holds the invariants of DeviceTrace.
// Read next: device_trace.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/trace/device_trace.hpp>
#include <drey/cuda/trace/error.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace drey::cuda::trace {
/// One event as its source names things.
struct RawEvent {
  TraceAction action = TraceAction::kAllocate;
  std::uint64_t pointer = 0;  ///< of the block; of kWait: the stream that is waited for
  std::uint64_t bytes = 0;    ///< of kAllocate; of a free: what it says, or 0 for "not said"
  std::uint64_t stream = 0;
  std::uint64_t thread = 0;
  std::uint64_t time_ns = 0;
};

class TraceBuilder {
 public:
  /// `source` begins each message: a file's name.
  explicit TraceBuilder(std::string source) : source_(std::move(source)) {}

  /// "row" 7: where the next events come from, for messages.
  void set_place(const char* unit, std::uint64_t number) {
    unit_ = unit;
    number_ = number;
  }

  /// Times that go back count as the latest one so far.
  /// Fails: BadInput: free of an unknown block, one that is live already, a size that is 0, above
  /// kBlockBytesMax, or not the block's.
  void add(const RawEvent& raw);

  [[nodiscard]] DeviceTrace finish();
  [[noreturn]] void fail(const std::string& what, const std::string& expected,
                         const std::string& found) const;

 private:
  struct Live {
    std::uint32_t block = 0;
    std::uint64_t bytes = 0;
  };
  using Numbers = std::unordered_map<std::uint64_t, std::uint32_t>;

  static std::uint32_t number_of(Numbers& numbers, std::uint64_t name);
  void add_allocate(const RawEvent& raw, Event& event);
  [[nodiscard]] Live find_live(const RawEvent& raw) const;

  std::string source_;
  const char* unit_ = "event";
  std::uint64_t number_ = 0;
  DeviceTrace trace_;
  std::unordered_map<std::uint64_t, Live> live_;
  Numbers streams_;
  Numbers threads_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t latest_ns_ = 0;
  std::uint64_t first_ns_ = 0;
};

/// "0x7f00"; for messages.
[[nodiscard]] std::string hex_text(std::uint64_t value);
}  // namespace drey::cuda::trace
