// central_heap.cpp: free blocks found, cut and joined; see central_heap.hpp.
//
// Joining a block that is past with one that waits makes all of it wait. The other choice, keeping them
// apart, would leave every program of one stream, which never learns that anything is past, with pieces.
// Read next: page_moves.cpp.
// SPDX-License-Identifier: MIT
#include "heap/central_heap.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
bool CentralHeap::open() noexcept {
  granules_of_page_ = static_cast<std::uint32_t>(store_.page_bytes() / kGranuleBytes);
  counts_ = {};
  if (!bins_.take(kBinSets) || !blocks_.open(store_.page_count() * granules_of_page_)) {
    close();
    return false;
  }
  add(blocks_.first());
  return true;
}

void CentralHeap::close() noexcept {
  blocks_.close();
  bins_.give_back();
}

bool CentralHeap::is_past(const Block& block) const noexcept {
  if (block.is_in_graphs || !is_past(block.stamp)) return false;
  for (std::uint32_t index = block.uses; index != 0; index = blocks_.use(index).next) {
    if (!is_past({blocks_.use(index).stream, blocks_.use(index).epoch})) return false;
  }
  return true;
}

// Within a capture by its graph alone. What runs outside must be past: a replay may come in any stream.
bool CentralHeap::is_ordered(StreamIndex user, Stamp stamp) const noexcept {
  if (is_slot(stamp.stream)) return is_slot(user) && captures_.is_ordered(user, stamp);
  return is_slot(user) ? timelines_.is_past(stamp) : timelines_.is_ordered(user, stamp);
}

bool CentralHeap::is_ordered(const Block& block, StreamIndex user) const noexcept {
  if (block.is_in_graphs && !is_slot(user)) return false;
  if (!is_ordered(user, block.stamp)) return false;
  for (std::uint32_t index = block.uses; index != 0; index = blocks_.use(index).next) {
    const Use& use = blocks_.use(index);
    if (!is_ordered(user, {use.stream, use.epoch})) return false;
  }
  return true;
}

std::uint32_t CentralHeap::gap_in(const Block& block, const Request& request) const noexcept {
  const std::uint64_t start = address_of(block) / kGranuleBytes;
  const std::uint64_t gap = (~start + 1) & (request.alignment_granules - 1);
  return gap + request.granules <= block.granules ? static_cast<std::uint32_t>(gap) : UINT32_MAX;
}

// Makes `best` the smallest fit seen, the lowest of equal ones. In the first list some blocks are too
// small; in a later one only alignment can be in the way, so the first list with a fit is the last.
void CentralHeap::look_in_lane(std::uint32_t lane, const Request& request, bool small_pages,
                               Reach reach, std::uint32_t scan_max,
                               BlockIndex* best) const noexcept {
  const Bins& bins = bins_[lane * 2 + (small_pages ? 1 : 0)];
  // All of a stream's own, and all that is past, is ordered.
  const bool must_ask = request.pool != 0 ? reach != Reach::kAny
                                          : reach == Reach::kOrdered && lane != kPastLane &&
                                                lane != request.stream.place;
  bool has_fit = false;
  for (std::uint32_t bin = bins.next(Bins::index_of(request.granules));
       bin != Bins::kBinCount && !has_fit; bin = bins.next(bin + 1)) {
    std::uint32_t left = scan_max;
    for (BlockIndex index = bins.head(bin); index != kNoBlock && left != 0;
         index = blocks_[index].next, --left) {
      const Block& block = blocks_[index];
      if (gap_in(block, request) == UINT32_MAX) continue;
      if (must_ask && !is_ordered(block, request.stream)) continue;
      has_fit = true;
      const bool is_better =
          *best == kNoBlock || block.granules < blocks_[*best].granules ||
          (block.granules == blocks_[*best].granules && block.first < blocks_[*best].first);
      if (is_better) *best = index;
    }
  }
}

BlockIndex CentralHeap::look_on_pages(const Request& request, bool small_pages, Reach reach,
                                      std::uint32_t scan_max) const noexcept {
  BlockIndex best = kNoBlock;
  if (request.pool != 0) {
    look_in_lane(kPoolLane + request.pool, request, small_pages, reach, scan_max, &best);
    return best;
  }
  look_in_lane(kPastLane, request, small_pages, reach, scan_max, &best);
  if (reach == Reach::kPast) return best;
  if (reach == Reach::kOwn) {
    look_in_lane(request.stream.place, request, small_pages, reach, scan_max, &best);
    return best;
  }
  for (std::uint32_t lane = 0; lane < timelines_.stream_count(); ++lane)
    look_in_lane(lane, request, small_pages, reach, scan_max, &best);
  look_in_lane(kSeveralLane, request, small_pages, reach, scan_max, &best);
  return best;
}

// A page for small blocks.
Request CentralHeap::region_request(const Request& request) const noexcept {
  return {granules_of_page_, granules_of_page_, request.stream, request.pool};
}

BlockIndex CentralHeap::look(const Request& request, Reach reach,
                             std::uint32_t scan_max) const noexcept {
  if (!request.is_small()) return look_on_pages(request, false, reach, scan_max);
  const BlockIndex found = look_on_pages(request, true, reach, scan_max);
  if (found != kNoBlock) return found;
  return look_on_pages(region_request(request), false, reach, scan_max);
}

BlockIndex CentralHeap::take(const Request& request, Reach reach, std::uint32_t scan_max) noexcept {
  const BlockIndex found = look(request, reach, scan_max);
  return found == kNoBlock ? kNoBlock : cut_for(found, request);
}

// Out of a page of small blocks, or out of a large block; there a page is made one of small blocks. What is
// left of that page waits for all that the large block waited for: it may be another stream's next.
BlockIndex CentralHeap::cut_for(BlockIndex index, const Request& request) noexcept {
  if (!request.is_small() || blocks_[index].is_small) return cut(index, request);
  const BlockIndex page = cut_out(index, region_request(request));
  if (page == kNoBlock) return kNoBlock;
  blocks_[page].is_small = true;
  add(page);
  return cut(page, request);
}

// For whoever asked: ordered before its work, so nothing is left to wait for.
BlockIndex CentralHeap::cut(BlockIndex index, const Request& request) noexcept {
  const BlockIndex taken = cut_out(index, request);
  if (taken == kNoBlock) return kNoBlock;
  Block& block = blocks_[taken];
  blocks_.drop_uses(block);
  block.size_class = kNoClass;
  return taken;
}

// Takes a free block out of its list, and puts what is before and behind the request back. All parts have
// its stamps.
BlockIndex CentralHeap::cut_out(BlockIndex index, const Request& request) noexcept {
  const std::uint32_t gap = gap_in(blocks_[index], request);
  DREY_ASSERT(gap != UINT32_MAX);
  remove(index);
  if (gap != 0) {
    const BlockIndex aligned = blocks_.split(index, gap);
    add(index);
    if (aligned == kNoBlock) return kNoBlock;
    index = aligned;
  }
  if (blocks_[index].granules != request.granules) {
    const BlockIndex behind = blocks_.split(index, request.granules);
    if (behind == kNoBlock) {
      add(index);
      return kNoBlock;
    }
    add(behind);
  }
  return index;
}

bool CentralHeap::can_join(const Block& front, const Block& back) const noexcept {
  if (front.state != BlockState::kFree || back.state != BlockState::kFree) return false;
  if (front.is_small != back.is_small) return false;
  if (front.pool != back.pool || front.is_in_graphs != back.is_in_graphs) return false;
  if (front.is_small && back.first % granules_of_page_ == 0) return false;
  const std::uint32_t lanes[] = {lane_of(front), lane_of(back)};
  if (lanes[0] == kSeveralLane || lanes[1] == kSeveralLane) return false;
  return lanes[0] == lanes[1] || lanes[0] == kPastLane || lanes[1] == kPastLane;
}

// The later stamp; of two turns of a place the earlier is past.
void CentralHeap::take_in_stamps(Block& front, const Block& back) noexcept {
  if (front.freed_ms < back.freed_ms) front.freed_ms = back.freed_ms;
  if (lane_of(back) == kPastLane) return;
  const Stamp& a = front.stamp;
  const Stamp& b = back.stamp;
  const bool is_later =
      a.stream.turn == b.stream.turn ? b.epoch > a.epoch : b.stream.turn > a.stream.turn;
  if (lane_of(front) == kPastLane || is_later) front.stamp = back.stamp;
}

void CentralHeap::join_behind(BlockIndex index) noexcept {
  const BlockIndex behind = blocks_[index].after;
  remove(behind);
  take_in_stamps(blocks_[index], blocks_[behind]);
  blocks_.join(index);
}

// The block is in no list; its free neighbours are.
BlockIndex CentralHeap::join_neighbours(BlockIndex index) noexcept {
  const BlockIndex behind = blocks_[index].after;
  if (behind != kNoBlock && can_join(blocks_[index], blocks_[behind])) join_behind(index);
  const BlockIndex before = blocks_[index].before;
  if (before != kNoBlock && can_join(blocks_[before], blocks_[index])) {
    remove(before);
    take_in_stamps(blocks_[before], blocks_[index]);
    blocks_.join(before);
    index = before;
  }
  return index;
}

BlockIndex CentralHeap::give_back(BlockIndex index, std::uint32_t now_ms) noexcept {
  Block& block = blocks_[index];
  BlockTable::set_state(block, BlockState::kFree);
  block.size_class = kNoClass;
  block.freed_ms = now_ms;
  index = join_neighbours(index);
  if (blocks_[index].is_small && blocks_[index].granules == granules_of_page_) {
    blocks_[index].is_small = false;
    index = join_neighbours(index);
  }
  add(index);
  return index;
}

void CentralHeap::settle() noexcept {
  for (BlockIndex index = blocks_.first(); index != kNoBlock; index = blocks_[index].after) {
    // Again for what it joined: a neighbour that is past as well, and was not looked at yet.
    while (BlockTable::state_of(blocks_[index]) == BlockState::kFree &&
           lane_of(blocks_[index]) != kPastLane && is_past(blocks_[index])) {
      Block& block = blocks_[index];
      remove(index);
      blocks_.drop_uses(block);
      block.stamp = kPastStamp;
      index = give_back(index, block.freed_ms);
    }
  }
}

void CentralHeap::change_pool(std::uint16_t pool,
                              void (*change)(void* context, Block& block) noexcept,
                              void* context) noexcept {
  for (BlockIndex index = blocks_.first(); index != kNoBlock; index = blocks_[index].after) {
    Block& block = blocks_[index];
    if (block.pool != pool) continue;
    const bool is_free = BlockTable::state_of(block) == BlockState::kFree;
    if (is_free) remove(index);
    change(context, block);
    if (is_free) add(index);
  }
  // Only when all are changed: what was joined with one that was not would be missed.
  for (BlockIndex index = blocks_.first(); index != kNoBlock; index = blocks_[index].after) {
    while (blocks_[index].after != kNoBlock &&
           can_join(blocks_[index], blocks_[blocks_[index].after])) {
      remove(index);
      index = give_back(index, blocks_[index].freed_ms);
    }
  }
}

bool CentralHeap::invariants_hold() const noexcept {
  if (!blocks_.invariants_hold()) return false;
  for (BlockIndex index = blocks_.first(); index != kNoBlock; index = blocks_[index].after) {
    const Block& block = blocks_[index];
    const bool has_memory = block.state != BlockState::kHole;
    const std::uint32_t last = (block.end() - 1) / granules_of_page_;
    for (std::uint32_t page = block.first / granules_of_page_; page <= last; ++page) {
      if (store_.counts().asleep == 0 && store_.is_mapped(page) != has_memory) return false;
    }
    if (block.after != kNoBlock && can_join(block, blocks_[block.after])) return false;
    if (block.state != BlockState::kHole && block.state != BlockState::kFree) continue;
    const Bins& bins = bins_[bins_of(block)];
    BlockIndex listed = bins.head(Bins::index_of(block.granules));
    while (listed != kNoBlock && listed != index) listed = blocks_[listed].next;
    if (listed != index) return false;
  }
  return true;
}
}  // namespace drey::cuda
