// statistics.hpp: what the device allocator counts, by the names that PyTorch's dashboards know.
//
// Invariants: for each Stat, current == allocated - freed. Sums are exact when no other thread is in a
// call; while others are, each number is one that was true a moment ago.
// Peaks of reserved and active memory are exact; those of allocation, allocated_bytes and requested_bytes
// are taken whenever a call leaves the threads' own magazines, so a peak in between may be missed by
// what the magazines hold; those of inactive_split whenever the statistics are read.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
struct Stat {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;
  std::uint64_t allocated = 0;  ///< all there ever was
  std::uint64_t freed = 0;
};

/// small: at most 1 MiB was asked for. Counts of blocks, or bytes.
struct StatByPool {
  Stat all;
  Stat small;
  Stat large;
};

/// Steps of the ladder that an allocation climbs, in order; cuda/README.md has them in words.
enum class LadderStep : std::uint8_t {
  kMagazine = 0,
  kSameStream,
  kOtherStream,
  kCollect,
  kGrow,
  kFlush,
  kSteal,
  kDependency,
  kSynchronise,
  kRelease,
  kCallback,
  kPools,
};
inline constexpr std::size_t kLadderSteps = 12;

struct Statistics {
  StatByPool allocation;       ///< blocks that the program has
  StatByPool allocated_bytes;  ///< of them, as rounded
  StatByPool requested_bytes;  ///< of them, as asked for
  Stat segment;                ///< pages of the device
  Stat reserved_bytes;         ///< physical memory held: mapped, spare or stuck
  Stat active;                 ///< blocks out of the central heap: the program's, and in magazines
  Stat active_bytes;
  Stat inactive_split;  ///< free blocks that share a page with one that is not, or are a pool's
  Stat inactive_split_bytes;
  std::uint64_t num_alloc_retries = 0;  ///< allocations that went beyond LadderStep::kGrow
  std::uint64_t num_ooms = 0;
  std::uint64_t served_by[kLadderSteps] = {};  ///< allocations, by the step that served them
  std::uint64_t events_recorded = 0;
  std::uint64_t events_queried = 0;
  std::uint64_t waits_inserted = 0;  ///< on the device, between streams
  std::uint64_t synchronised = 0;    ///< times the host waited
  std::uint64_t pages_mapped = 0;    ///< all there ever were
  std::uint64_t pages_moved = 0;     ///< taken from a free block for another place
  std::uint64_t pages_returned = 0;  ///< to the driver
  std::uint64_t magazine_bytes = 0;  ///< in all threads' magazines now
  std::uint64_t misuse = 0;          ///< calls that were refused as the caller's mistake
};

/// Bytes the free memory of an allocator can be told apart in, at the moment of a failure.
/// live + magazines + stream + soft + hard + pools + spare == reserved.
struct MemorySplit {
  std::uint64_t live = 0;       ///< the program's, as rounded
  std::uint64_t magazines = 0;  ///< in threads' magazines
  std::uint64_t stream = 0;     ///< free, but work that uses it may still run
  std::uint64_t soft = 0;       ///< free whole pages, which could be moved
  std::uint64_t hard = 0;       ///< free, on pages that cannot be moved
  std::uint64_t pools = 0;      ///< free, and kept for the graphs of a pool
  std::uint64_t spare = 0;      ///< pages mapped nowhere
};

/// Why an allocation failed. text_of() says it in words.
struct OomReport {
  std::uint64_t requested = 0;
  std::uint64_t rounded = 0;
  std::uint64_t device_total = 0;
  std::uint64_t device_free = 0;  ///< as the driver says; 0 if it did not
  std::uint64_t others = 0;       ///< total - free - reserved: other processes, contexts, libraries
  std::uint64_t limit = 0;        ///< the least of hard limit and total
  std::uint64_t headroom = 0;
  std::uint64_t reserved = 0;
  MemorySplit split;
  std::uint64_t largest_free = 0;           ///< bytes of the largest free block
  std::uint64_t gained[kLadderSteps] = {};  ///< bytes that each step freed or got
  std::uint64_t stream_blocks = 0;          ///< blocks that `split.stream` counts
  unsigned driver_result = 0;               ///< of the last driver call that failed; 0: none did
  int device = 0;
};

/// The report in some lines of plain text, ending with one of advice.
/// Returns: characters it has without the final NUL; more than `size` - 1 means that it was cut.
std::size_t text_of(const OomReport& report, char* text, std::size_t size) noexcept;

[[nodiscard]] const char* name_of(LadderStep step) noexcept;
}  // namespace drey::cuda
