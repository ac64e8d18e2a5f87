// trace_format.hpp: the bytes of a trace of allocations, as libdrey_trace.so writes them.
//
// A file is blocks of 64 KiB: first the header (the rest of its block is zero), then chunks. A chunk
// belongs to one thread at a time; its first record, and each change of its thread, is a kThread
// record. Little endian. Version 1. The whole format, with its rules of order, is in docs/TRACE.md.
// Invariants: chunk i lies at (i + 1) * kTraceChunkBytes; a zero record ends what a chunk holds.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::trace {
static_assert(std::endian::native == std::endian::little, "traces are little endian");

inline constexpr char kTraceMagic[8] = {'d', 'r', 'e', 'y', '-', 't', 'r', 'c'};
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::size_t kTraceChunkBytes = 64_KiB;
inline constexpr std::uint32_t kChunkMagic = 0x6b6e6863;  // "chnk"

/// What the stamps count.
enum class Clock : std::uint32_t {
  kTicks = 1,        ///< the processor's own counter; the header's two pairs give its rate
  kNanoseconds = 2,  ///< CLOCK_MONOTONIC
};

/// Bits of TraceHeader::flags.
inline constexpr std::uint32_t kFlagLimitReached = 1;  ///< lost_count events were not recorded
inline constexpr std::uint32_t kFlagEndedInOrder = 2;  ///< the process left by exit()

struct TraceHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t record_bytes;
  std::uint32_t chunk_bytes;
  Clock clock;
  std::uint64_t first_ticks;  ///< the clock's stamp and CLOCK_MONOTONIC, read together at the start
  std::uint64_t first_ns;
  std::uint64_t last_ticks;  ///< the same, read last: at the end, or when a chunk was taken
  std::uint64_t last_ns;
  std::uint64_t realtime_ns;  ///< CLOCK_REALTIME at the start
  std::uint32_t process;      ///< its id
  std::uint32_t flags;
  std::uint64_t chunk_count;   ///< chunks in use; what lies behind them is not part of the trace
  std::uint64_t thread_count;  ///< thread numbers are below this
  std::uint64_t lost_count;
  char program[160];  ///< as it was called, cut, ends in NUL
};
static_assert(sizeof(TraceHeader) == 256 && alignof(TraceHeader) == 8);

enum class RecordKind : std::uint8_t {
  kEnd = 0,             ///< nothing was written here
  kThread = 1,          ///< the records behind it are of thread `address`, its part number `size`
  kMalloc = 2,          ///< stamped when the block was there; address 0: it failed
  kCalloc = 3,          ///< size is the product
  kAligned = 4,         ///< every form with an alignment
  kReallocateFrom = 5,  ///< stamped before; the old block, 0 for none; size is the new one
  kReallocateTo = 6,    ///< its other half, stamped after; the new block
  kFree = 7,            ///< stamped before the block was given back; size 0
};
inline constexpr std::uint8_t kRecordKindLast = 7;

struct TraceRecord {
  std::uint64_t ticks;
  std::uint64_t word;  ///< bits 0-47 address, 48-55 log2 of the alignment, 56-63 kind
  std::uint64_t size;  ///< bytes asked for
};
static_assert(sizeof(TraceRecord) == 24);

struct ChunkHeader {
  std::uint32_t magic;  ///< all zero: taken, but the process ended before it was written
  std::uint32_t index;
  std::uint64_t emptying;  ///< 1: what the chunk holds is in another one, and was being wiped here
};
static_assert(sizeof(ChunkHeader) == 16);

inline constexpr std::size_t kRecordsPerChunk =
    (kTraceChunkBytes - sizeof(ChunkHeader)) / sizeof(TraceRecord);
static_assert(sizeof(ChunkHeader) + kRecordsPerChunk * sizeof(TraceRecord) == kTraceChunkBytes,
              "records end where the chunk ends");

inline constexpr unsigned kAddressBitsOfRecord = 48;
inline constexpr unsigned kKindShift = 56;

[[nodiscard]] constexpr std::uint64_t pack(RecordKind kind, std::uint64_t address,
                                           unsigned alignment_log2) noexcept {
  return address | (std::uint64_t{alignment_log2} << kAddressBitsOfRecord) |
         (static_cast<std::uint64_t>(kind) << kKindShift);
}
[[nodiscard]] constexpr std::uint64_t address_of_word(std::uint64_t word) noexcept {
  return word & ((std::uint64_t{1} << kAddressBitsOfRecord) - 1);
}
[[nodiscard]] constexpr std::uint8_t kind_of_word(std::uint64_t word) noexcept {
  return static_cast<std::uint8_t>(word >> kKindShift);
}
[[nodiscard]] constexpr unsigned alignment_log2_of_word(std::uint64_t word) noexcept {
  return static_cast<unsigned>(word >> kAddressBitsOfRecord) & 0xff;
}
}  // namespace drey::trace
