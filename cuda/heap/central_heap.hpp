// central_heap.hpp: the free memory of one device: blocks by size and by what they have to wait for, over
// pages that get memory, lose it, and lend it to each other.
//
// Invariants: every kFree block is in exactly one list: by its lane (what it waits for: nothing, one
// stream, several) and by whether it lies on a page of small blocks; those of a pool are in its lane, whatever
// they wait for. Holes are whole pages, in a list of their own. Two free neighbours of one pool that wait
// for the same, or one of them for nothing, are one block.
// A block that take() returns is ordered before all later work of the stream that asked, by what
// the timelines know, unless it asked for Reach::kAny.
// Read next: central_heap.cpp, page_moves.cpp; docs/DESIGN.md, "The device allocator".
// SPDX-License-Identifier: MIT
#pragma once

#include "capture/captures.hpp"
#include "heap/bins.hpp"
#include "heap/block_table.hpp"
#include "pages/page_store.hpp"
#include "timeline/timelines.hpp"

#include <cstdint>

namespace drey::cuda {
struct Request {
  std::uint32_t granules = 0;
  std::uint64_t alignment_granules = 1;  // a power of two
  StreamIndex stream;                    // or a capture's slot
  std::uint16_t pool = 0;                // take() and look() only in it
  [[nodiscard]] bool is_small() const noexcept {
    return granules <= kRegionGranulesMax && alignment_granules == 1;
  }
};

enum class Reach {
  kPast,     // no work uses it any more, whoever asks
  kOwn,      // freed in this stream, or past
  kOrdered,  // any that the stream comes after
  kAny,      // also what it does not: to find out what to wait for
};

/// A way to place a request: pages to map, between free blocks it can use the ends of.
struct Place {
  BlockIndex hole = kNoBlock;
  PageRange pages;
  BlockIndex before = kNoBlock;  // free blocks it counts on, not to be taken apart
  BlockIndex after = kNoBlock;
};

/// Told when pages get or lose memory.
struct PageWatch {
  void (*function)(void* context, bool is_mapped, DevicePointer base,
                   std::uint64_t bytes) noexcept = nullptr;
  void* context = nullptr;
};

struct HeapCounts {
  std::uint64_t pages_mapped = 0;  // ever
  std::uint64_t pages_moved = 0;
};

/// Threads: one at a time. Driver calls only where it says so.
class CentralHeap {
 public:
  static constexpr std::uint16_t kPoolsMax = 64;  // their numbers begin at 1

  CentralHeap(PageStore& store, Timelines& timelines, const Captures& captures) noexcept
      : store_(store), timelines_(timelines), captures_(captures) {}

  /// Requires: the store is open, and stays so. Fails: false without memory for the records.
  [[nodiscard]] bool open() noexcept;
  void close() noexcept;

  /// A free block of exactly the size, cut out of what fits best among `scan_max` of each list.
  /// Returns: kNoBlock if there is none. The block is in no list; the caller sets its state.
  [[nodiscard]] BlockIndex take(const Request& request, Reach reach,
                                std::uint32_t scan_max) noexcept;
  /// The free block that take() would cut; it stays where it is.
  [[nodiscard]] BlockIndex look(const Request& request, Reach reach,
                                std::uint32_t scan_max) const noexcept;
  /// Cuts the request out of a block that is in no list; the rest is free.
  /// Returns: as take(). Fails: kNoBlock without records, and all of the block is free.
  [[nodiscard]] BlockIndex take_from(BlockIndex index, const Request& request) noexcept;
  /// A block with its stamps set: into a list, one with its free neighbours.
  /// Returns: the block it is part of now.
  BlockIndex give_back(BlockIndex index, std::uint32_t now_ms) noexcept;

  /// Calls `change` for every block of the pool that is live or free. Free ones are in no list
  /// meanwhile, so it may change what they wait for and whose they are. Cost: all blocks.
  void change_pool(std::uint16_t pool, void (*change)(void* context, Block& block) noexcept,
                   void* context) noexcept;

  /// Whether all stamps of a free block are past, or ordered before the stream's later work.
  [[nodiscard]] bool is_past(const Block& block) const noexcept;
  [[nodiscard]] bool is_ordered(const Block& block, StreamIndex user) const noexcept;
  /// Blocks that are past by now become so, and one with their neighbours. Cost: all blocks.
  void settle() noexcept;

  /// The place that needs the fewest pages. `counts_idle`: idle pages of the free blocks it would use
  /// count as needed too. `scan_max`: holes to look at.
  [[nodiscard]] Place find_place(const Request& request, bool counts_idle,
                                 std::uint32_t scan_max) noexcept;
  /// Gives the place memory, by driver calls, and cuts the request out of it.
  /// Returns: the block, as take(). Fails: kNoBlock, `result` as PageStore::map().
  [[nodiscard]] BlockIndex fill(const Place& place, const Request& request,
                                Result* result) noexcept;
  /// Pages taken from past free blocks become spare, by driver calls, until `pages` are.
  /// Blocks of `place` are left alone, and those that became free after `before_ms`.
  /// Returns: how many; less if there are not so many, or the driver refused (`result`).
  std::uint64_t make_spare(std::uint64_t pages, const Place& place, std::uint32_t before_ms,
                           Result* result) noexcept;
  /// Pages that make_spare() could take. Cost: all free blocks.
  [[nodiscard]] std::uint64_t idle_pages(const Place& place) const noexcept;
  /// Whole handles within a block: count 0 if none.
  [[nodiscard]] PageRange whole_pages(const Block& block) const noexcept;

  [[nodiscard]] BlockTable& blocks() noexcept { return blocks_; }
  [[nodiscard]] const BlockTable& blocks() const noexcept { return blocks_; }
  [[nodiscard]] DevicePointer address_of(const Block& block) const noexcept {
    return store_.address_of(0) + block.first * kGranuleBytes;
  }
  [[nodiscard]] std::uint32_t granules_of_page() const noexcept { return granules_of_page_; }
  [[nodiscard]] const HeapCounts& counts() const noexcept { return counts_; }
  /// Those moved by make_spare() on the way to fill().
  void count_moved(std::uint64_t pages) noexcept { counts_.pages_moved += pages; }
  void set_page_watch(PageWatch watch) noexcept { watch_ = watch; }
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  // Lanes: a stream's place, or one of these.
  static constexpr std::uint32_t kPastLane = Timelines::kStreamsMax;
  static constexpr std::uint32_t kSeveralLane = kPastLane + 1;
  static constexpr std::uint32_t kPoolLane = kSeveralLane;  // and the pool's number
  static constexpr std::uint32_t kLaneCount = kPoolLane + kPoolsMax;
  static constexpr std::uint32_t kHoleLane = 2 * kLaneCount;
  static constexpr std::uint32_t kBinSets = kHoleLane + 1;

  [[nodiscard]] static std::uint32_t lane_of(const Block& block) noexcept {
    if (block.uses != 0) return kSeveralLane;
    return block.stamp.epoch == 0 ? kPastLane : block.stamp.stream.place;
  }
  [[nodiscard]] bool is_past(Stamp stamp) const noexcept {
    return !is_slot(stamp.stream) && timelines_.is_past(stamp);
  }
  [[nodiscard]] bool is_ordered(StreamIndex user, Stamp stamp) const noexcept;
  [[nodiscard]] std::uint32_t bins_of(const Block& block) const noexcept {
    if (block.state == BlockState::kHole) return kHoleLane;
    const std::uint32_t lane = block.pool != 0 ? kPoolLane + block.pool : lane_of(block);
    return lane * 2 + (block.is_small ? 1 : 0);
  }
  void add(BlockIndex index) noexcept { bins_[bins_of(blocks_[index])].add(blocks_, index); }
  void remove(BlockIndex index) noexcept { bins_[bins_of(blocks_[index])].remove(blocks_, index); }

  /// Granules before the aligned start in it; UINT32_MAX if it is too small.
  [[nodiscard]] std::uint32_t gap_in(const Block& block, const Request& request) const noexcept;
  void look_in_lane(std::uint32_t lane, const Request& request, bool small_pages, Reach reach,
                    std::uint32_t scan_max, BlockIndex* best) const noexcept;
  [[nodiscard]] BlockIndex look_on_pages(const Request& request, bool small_pages, Reach reach,
                                         std::uint32_t scan_max) const noexcept;
  [[nodiscard]] BlockIndex cut(BlockIndex index, const Request& request) noexcept;
  [[nodiscard]] BlockIndex cut_out(BlockIndex index, const Request& request) noexcept;
  [[nodiscard]] BlockIndex cut_for(BlockIndex index, const Request& request) noexcept;
  [[nodiscard]] Request region_request(const Request& request) const noexcept;
  [[nodiscard]] bool can_join(const Block& front, const Block& back) const noexcept;
  void take_in_stamps(Block& front, const Block& back) noexcept;
  void join_behind(BlockIndex index) noexcept;
  BlockIndex join_neighbours(BlockIndex index) noexcept;
  void rejoin(BlockIndex index) noexcept;

  [[nodiscard]] bool try_place(const Request& request, BlockIndex hole, bool counts_idle,
                               Place* place, std::uint64_t* cost) const noexcept;
  Result lose_pages(BlockIndex index, PageRange pages) noexcept;
  [[nodiscard]] BlockIndex isolate(BlockIndex index, PageRange pages) noexcept;
  BlockIndex join_holes(BlockIndex index) noexcept;
  void tell(bool is_mapped, PageRange pages) const noexcept;

  PageStore& store_;
  Timelines& timelines_;
  const Captures& captures_;
  BlockTable blocks_;
  MetadataArray<Bins> bins_;
  std::uint32_t granules_of_page_ = 0;
  HeapCounts counts_;
  PageWatch watch_;
};
}  // namespace drey::cuda
