// page_moves.cpp: the part of central_heap.hpp that makes driver calls: pages get memory and lose it.
//
// A page loses its memory only when all work that used it is known to be complete: the driver does not
// wait. Each step changes the records after the driver's call, so a call that fails leaves a heap of
// which all is true; memory on its way is spare, and is used before any new.
// SPDX-License-Identifier: MIT
#include "heap/central_heap.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>

namespace drey::cuda {
void CentralHeap::tell(bool is_mapped, PageRange pages) const noexcept {
  if (watch_.function != nullptr)
    watch_.function(watch_.context, is_mapped, store_.address_of(pages.first),
                    pages.count * store_.page_bytes());
}

PageRange CentralHeap::whole_pages(const Block& block) const noexcept {
  const std::uint32_t first = (block.first + granules_of_page_ - 1) / granules_of_page_;
  const std::uint32_t end = block.end() / granules_of_page_;
  if (first >= end) return {first, 0};
  return store_.whole_within({first, end - first});
}

// Two ways: from the front, behind the free block before the hole, or from the end. What is aligned
// away at the front is left to whoever fits there.
bool CentralHeap::try_place(const Request& request, BlockIndex hole_index, bool counts_idle,
                            Place* place, std::uint64_t* cost) const noexcept {
  const Block& hole = blocks_[hole_index];
  const auto can_use = [&](BlockIndex index) {
    if (index == kNoBlock) return false;
    const Block& block = blocks_[index];
    return BlockTable::state_of(block) == BlockState::kFree && !block.is_small && block.pool == 0 &&
           lane_of(block) != kSeveralLane && is_ordered(block, request.stream);
  };
  const BlockIndex before = can_use(hole.before) ? hole.before : kNoBlock;
  BlockIndex after = can_use(hole.after) ? hole.after : kNoBlock;
  if (before != kNoBlock && after != kNoBlock) {
    const std::uint32_t lanes[] = {lane_of(blocks_[before]), lane_of(blocks_[after])};
    if (lanes[0] != lanes[1] && lanes[0] != kPastLane && lanes[1] != kPastLane) after = kNoBlock;
  }
  const std::uint64_t base = store_.address_of(0) / kGranuleBytes;
  const std::uint64_t mask = request.alignment_granules - 1;
  const std::uint64_t start = base + (before != kNoBlock ? blocks_[before].first : hole.first);
  const std::uint64_t end = base + (after != kNoBlock ? blocks_[after].end() : hole.end());
  const std::uint64_t lowest = (start + mask) & ~mask;
  if (lowest + request.granules > end) return false;
  const std::uint64_t starts[] = {lowest, (end - request.granules) & ~mask};
  const std::uint64_t hole_start = base + hole.first;
  const std::uint64_t hole_end = base + hole.end();
  bool is_found = false;
  for (const std::uint64_t from : starts) {
    const std::uint64_t to = from + request.granules;
    if (to <= hole_start || from >= hole_end) continue;
    const std::uint64_t first = (std::max(from, hole_start) - base) / granules_of_page_;
    const std::uint64_t last = (std::min(to, hole_end) - base - 1) / granules_of_page_;
    const PageRange pages{static_cast<std::uint32_t>(first),
                          static_cast<std::uint32_t>(last - first + 1)};
    Place tried{hole_index, pages, from < hole_start ? before : kNoBlock,
                to > hole_end ? after : kNoBlock};
    std::uint64_t needed = pages.count;
    for (const BlockIndex used : {tried.before, tried.after}) {
      if (counts_idle && used != kNoBlock) needed += whole_pages(blocks_[used]).count;
    }
    if (place->hole != kNoBlock && needed >= *cost) continue;
    *place = tried;
    *cost = needed;
    is_found = true;
  }
  return is_found;
}

Place CentralHeap::find_place(const Request& asked, bool counts_idle,
                              std::uint32_t scan_max) noexcept {
  const Request request = asked.is_small() ? region_request(asked) : asked;
  Place place;
  std::uint64_t cost = 0;
  std::uint32_t left = scan_max;
  const Bins& holes = bins_[kHoleLane];
  for (std::uint32_t bin = holes.next(0); bin != Bins::kBinCount && left != 0;
       bin = holes.next(bin + 1)) {
    for (BlockIndex index = holes.head(bin); index != kNoBlock && left != 0;
         index = blocks_[index].next, --left)
      static_cast<void>(try_place(request, index, counts_idle, &place, &cost));
  }
  if (place.hole != kNoBlock || left != 0) return place;
  // So many small holes: the largest one then, which begins as one of the whole arena.
  const std::uint32_t last = holes.last();
  if (last != Bins::kBinCount)
    static_cast<void>(try_place(request, holes.head(last), counts_idle, &place, &cost));
  return place;
}

// A block that is in no list, cut to the pages; what is before and behind is in lists.
BlockIndex CentralHeap::isolate(BlockIndex index, PageRange pages) noexcept {
  const std::uint32_t first = pages.first * granules_of_page_;
  const std::uint32_t count = pages.count * granules_of_page_;
  if (blocks_[index].first != first) {
    const BlockIndex middle = blocks_.split(index, first - blocks_[index].first);
    add(index);
    if (middle == kNoBlock) return kNoBlock;
    index = middle;
  }
  if (blocks_[index].granules == count) return index;
  const BlockIndex behind = blocks_.split(index, count);
  if (behind != kNoBlock) {
    add(behind);
    return index;
  }
  if (blocks_[index].state == BlockState::kHole) {
    add(join_holes(index));
  } else {
    give_back(index, blocks_[index].freed_ms);
  }
  return kNoBlock;
}

// The hole is in no list; its neighbours are.
BlockIndex CentralHeap::join_holes(BlockIndex index) noexcept {
  const BlockIndex behind = blocks_[index].after;
  if (behind != kNoBlock && blocks_[behind].state == BlockState::kHole) {
    remove(behind);
    blocks_.join(index);
  }
  const BlockIndex before = blocks_[index].before;
  if (before != kNoBlock && blocks_[before].state == BlockState::kHole) {
    remove(before);
    blocks_.join(before);
    index = before;
  }
  return index;
}

// The new memory is joined with the blocks that the place counts on, and with no others before the request
// is cut out of it: one that has to wait would make all of it wait.
BlockIndex CentralHeap::fill(const Place& place, const Request& asked, Result* result) noexcept {
  DREY_ASSERT(place.hole != kNoBlock);
  // Not place.hole: a hole that make_spare() made beside it may have joined it.
  const BlockIndex hole = blocks_.around(place.pages.first * granules_of_page_);
  DREY_ASSERT(blocks_[hole].state == BlockState::kHole);
  remove(hole);
  BlockIndex index = isolate(hole, place.pages);
  *result = Result::kOutOfMemory;
  if (index == kNoBlock) return kNoBlock;
  *result = store_.map(place.pages);
  if (*result == Result::kOutOfMemory && store_.counts().spare != 0 &&
      store_.release_spares(0) != 0)
    *result = store_.map(place.pages);  // the spare handles were of the wrong size
  if (*result != Result::kSuccess) {
    add(join_holes(index));
    return kNoBlock;
  }
  counts_.pages_mapped += place.pages.count;
  tell(true, place.pages);
  blocks_[index].stamp = kPastStamp;
  BlockTable::set_state(blocks_[index], BlockState::kFree);
  if (place.after != kNoBlock) join_behind(index);
  if (place.before != kNoBlock) {
    index = blocks_[index].before;
    remove(index);
    take_in_stamps(blocks_[index], blocks_[blocks_[index].after]);
    blocks_.join(index);
  }
  const BlockIndex taken = take_from(index, asked);
  if (taken == kNoBlock) *result = Result::kOutOfMemory;  // of records
  return taken;
}

BlockIndex CentralHeap::take_from(BlockIndex index, const Request& request) noexcept {
  BlockTable::set_state(blocks_[index], BlockState::kFree);
  add(index);
  const BlockIndex taken = cut_for(index, request);
  if (taken == kNoBlock) {
    rejoin(index);
    return kNoBlock;
  }
  BlockTable::set_state(blocks_[taken], BlockState::kMagazine);
  rejoin(blocks_[taken].after);
  rejoin(blocks_[taken].before);
  return taken;
}

// A free block in a list, cut out of new memory, meets its neighbours.
void CentralHeap::rejoin(BlockIndex index) noexcept {
  if (index == kNoBlock || BlockTable::state_of(blocks_[index]) != BlockState::kFree) return;
  remove(index);
  give_back(index, blocks_[index].freed_ms);
}

// Of a block that is in no list.
Result CentralHeap::lose_pages(BlockIndex index, PageRange pages) noexcept {
  const BlockIndex lost = isolate(index, pages);
  if (lost == kNoBlock) return Result::kOutOfMemory;
  const Result result = store_.unmap(pages);
  if (result != Result::kSuccess) {
    give_back(lost, blocks_[lost].freed_ms);
    return result;
  }
  tell(false, pages);
  Block& hole = blocks_[lost];
  BlockTable::set_state(hole, BlockState::kHole);
  hole.stamp = kPastStamp;
  hole.freed_ms = 0;
  add(join_holes(lost));
  return Result::kSuccess;
}

std::uint64_t CentralHeap::idle_pages(const Place& place) const noexcept {
  const Bins& bins = bins_[std::size_t{kPastLane} * 2];
  std::uint64_t pages = 0;
  for (std::uint32_t bin = bins.next(Bins::index_of(granules_of_page_)); bin != Bins::kBinCount;
       bin = bins.next(bin + 1)) {
    for (BlockIndex index = bins.head(bin); index != kNoBlock; index = blocks_[index].next) {
      if (index != place.before && index != place.after) pages += whole_pages(blocks_[index]).count;
    }
  }
  return pages;
}

// From the ends of the largest blocks: their fronts stay together.
std::uint64_t CentralHeap::make_spare(std::uint64_t pages, const Place& place,
                                      std::uint32_t before_ms, Result* result) noexcept {
  *result = Result::kSuccess;
  std::uint64_t made = 0;
  Bins& bins = bins_[std::size_t{kPastLane} * 2];
  const std::uint32_t lowest = Bins::index_of(granules_of_page_);
  for (std::uint32_t bin = Bins::kBinCount; bin-- != lowest && made < pages;) {
    BlockIndex index = bins.head(bin);
    while (index != kNoBlock && made < pages) {
      const BlockIndex next = blocks_[index].next;
      const Block& block = blocks_[index];
      PageRange whole = whole_pages(block);
      const bool may = whole.count != 0 && index != place.before && index != place.after &&
                       block.freed_ms <= before_ms;
      if (may) {
        const std::uint64_t wanted = std::min<std::uint64_t>(whole.count, pages - made);
        // A cut through a large handle takes all of it.
        std::uint32_t first = whole.end() - static_cast<std::uint32_t>(wanted);
        while (!store_.is_whole({first, whole.end() - first})) --first;
        whole = {first, whole.end() - first};
        remove(index);
        *result = lose_pages(index, whole);
        if (*result != Result::kSuccess) return made;
        made += whole.count;
      }
      index = next;
    }
  }
  return made;
}
}  // namespace drey::cuda
