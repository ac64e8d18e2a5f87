// block_table.hpp: the records of an arena's blocks, and the way from an address to its block.
//
// Invariants: blocks cover the arena without gap or overlap, each linked to its two neighbours; the map
// has a block's index at its first granule and 0 everywhere else. Index 0 is no block.
// Read next: bins.hpp, central_heap.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "heap/size_class.hpp"
#include "pages/metadata_array.hpp"
#include "timeline/timelines.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
using BlockIndex = std::uint32_t;
inline constexpr BlockIndex kNoBlock = 0;

/// Of memory that no work uses any more, whoever asks.
inline constexpr Stamp kPastStamp = {{0, 0}, 0};

enum class BlockState : std::uint8_t {
  kUnused = 0,
  kHole,      // addresses without memory
  kFree,      // in the central heap, in a list of its bin
  kMagazine,  // in some thread's magazine
  kLive,
};

/// A use on another stream than the block's own.
struct Use {
  static constexpr std::uint64_t kUntilFree = UINT64_MAX;
  StreamIndex stream;
  std::uint64_t epoch;  // or kUntilFree, while the block is live
  std::uint32_t next;
};

/// Threads: `stamp`, `next` and `requested` of a block that is live or in a magazine belong to who has
/// it; all else to who holds the heap's lock.
struct Block {
  BlockState state;         // atomically, see state_of(): misuse is found by it, off the lock
  std::uint8_t size_class;  // kNoClass: not for magazines
  bool is_small;            // on a page of small blocks
  bool is_counted_small;    // live, of a pool: in the statistics of small blocks
  std::uint32_t first;      // granule
  std::uint32_t granules;
  BlockIndex before;  // by address
  BlockIndex after;
  BlockIndex next;  // in its bin or magazine
  BlockIndex previous;
  std::uint32_t uses;  // first of more stamps than one; 0: none
  Stamp stamp;         // live: the stream; free: not before this; epoch 0: past
  std::uint64_t requested;
  std::uint32_t freed_ms;  // when it came back, by a coarse clock
  std::uint16_t pool;      // it is kept for; 0: none
  bool is_in_graphs;       // graphs of its pool may use it at any time
  [[nodiscard]] std::uint32_t end() const noexcept { return first + granules; }
};
static_assert(sizeof(Block) == 64);

/// Threads: one at a time, but for at() and the states.
class BlockTable {
 public:
  static constexpr std::size_t kBlocksMax = std::size_t{1} << 24;
  static constexpr std::size_t kUsesMax = std::size_t{1} << 20;

  /// One block, a hole, over the whole arena. Fails: false without memory for the records.
  [[nodiscard]] bool open(std::uint32_t granules) noexcept;
  void close() noexcept;

  [[nodiscard]] Block& operator[](BlockIndex index) noexcept { return blocks_[index]; }
  [[nodiscard]] const Block& operator[](BlockIndex index) const noexcept { return blocks_[index]; }
  /// The block that begins there. Relaxed: who has a pointer to a block got it through something
  /// that ordered the entry before it.
  [[nodiscard]] BlockIndex at(std::uint32_t granule) const noexcept {
    return std::atomic_ref<BlockIndex>(const_cast<BlockIndex&>(map_[granule]))
        .load(std::memory_order_relaxed);
  }
  /// The block that has the granule, wherever it begins. Cost: the way back to its start.
  [[nodiscard]] BlockIndex around(std::uint32_t granule) const noexcept;

  /// Relaxed: the way of a block between threads is ordered by the lock, or by the program; of two
  /// threads that free one block at once, take_state() lets one through.
  [[nodiscard]] static BlockState state_of(const Block& block) noexcept {
    return std::atomic_ref<BlockState>(const_cast<BlockState&>(block.state))
        .load(std::memory_order_relaxed);
  }
  static void set_state(Block& block, BlockState state) noexcept {
    std::atomic_ref<BlockState>(block.state).store(state, std::memory_order_relaxed);
  }
  /// From kLive to `state`. Relaxed, as above. Returns: false if it was not live, or is not now.
  [[nodiscard]] static bool take_state(Block& block, BlockState state) noexcept {
    BlockState expected = BlockState::kLive;
    return std::atomic_ref<BlockState>(block.state)
        .compare_exchange_strong(expected, state, std::memory_order_relaxed);
  }

  /// Cuts a block behind its first `granules`; both parts have its state and stamps.
  /// Returns: the part behind; kNoBlock without a record for it.
  [[nodiscard]] BlockIndex split(BlockIndex index, std::uint32_t granules) noexcept;
  /// The block takes in the one behind it, whose record is dropped.
  void join(BlockIndex index) noexcept;

  [[nodiscard]] Use& use(std::uint32_t index) noexcept { return uses_[index]; }
  [[nodiscard]] const Use& use(std::uint32_t index) const noexcept { return uses_[index]; }
  /// Adds a use, or makes the one of the same stream later. Fails: false without a record.
  [[nodiscard]] bool add_use(Block& block, StreamIndex stream, std::uint64_t epoch) noexcept;
  void drop_uses(Block& block) noexcept;

  [[nodiscard]] BlockIndex first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t granules() const noexcept { return granules_; }
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  [[nodiscard]] BlockIndex new_record() noexcept;
  [[nodiscard]] bool copy_uses(const Block& from, Block& to) noexcept;
  void set_map(std::uint32_t granule, BlockIndex index) noexcept {
    // Relaxed; pairs with at().
    std::atomic_ref<BlockIndex>(map_[granule]).store(index, std::memory_order_relaxed);
  }

  MetadataArray<Block> blocks_;
  MetadataArray<BlockIndex> map_;
  MetadataArray<Use> uses_;
  std::uint32_t granules_ = 0;
  BlockIndex first_ = kNoBlock;
  BlockIndex free_record_ = kNoBlock;
  std::uint32_t record_count_ = 0;
  std::uint32_t free_use_ = 0;
  std::uint32_t use_count_ = 0;
};
}  // namespace drey::cuda
