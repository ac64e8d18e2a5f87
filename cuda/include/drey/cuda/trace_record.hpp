// trace_record.hpp: one event of a device allocator as a thread writes it down: 32 bytes, four words.
// Invariants: nothing is packed across words, so a record can be written and read word by word.
// Read next: trace_recorder.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>

#include <cstdint>

namespace drey::cuda {
/// What happened. The numbers are those of the files, too.
enum class TraceAction : std::uint8_t {
  kAllocate = 1,
  kFree = 2,          ///< after all uses in the block's own stream, and those that were told
  kFreeOn = 3,        ///< after all uses before the end of `stream`
  kRecordStream = 4,  ///< `stream` uses the block, until the free
  kRecordUse = 5,     ///< `stream` has used the block, and will not again
  kWait = 6,          ///< `stream` waits for the stream that `pointer` numbers
  kSynchronize = 7,   ///< the host waited for `stream`
  kMap = 8,           ///< memory from the driver at `pointer`
  kUnmap = 9,         ///< memory back to the driver
  kOutOfMemory = 10,  ///< `bytes` could not be had
};
inline constexpr std::uint8_t kTraceActionLast = 10;

struct TraceRecord {
  std::uint64_t ticks = 0;
  std::uint64_t pointer = 0;
  std::uint64_t bytes = 0;
  std::uint32_t stream = 0;  ///< a number the writer gives its streams
  std::uint16_t thread = 0;  ///< set by the recorder
  TraceAction action = TraceAction::kAllocate;
  std::uint8_t device = 0;
};
static_assert(sizeof(TraceRecord) == 32);
}  // namespace drey::cuda
