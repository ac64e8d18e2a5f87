// slab_table.cpp: see slab_table.hpp.
// SPDX-License-Identifier: MIT
#include "pinned/slab_table.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
bool SlabTable::open() noexcept {
  return slabs_.take(kSlabsMax) && blocks_.take(std::size_t{kSlabsMax} * kSlabBlocksMax) &&
         sorted_.take(kSlabsMax);
}

void SlabTable::close() noexcept {
  slabs_.give_back();
  blocks_.give_back();
  sorted_.give_back();
  sorted_count_ = used_count_ = 0;
  free_record_ = kNoPinned;
  idle_ = {};
  for (List& list : past_) list = {};
  for (List& list : pending_) list = {};
}

template <typename Entries>
void SlabTable::append(List& list, Entries& entries, std::uint32_t index) noexcept {
  entries[index].next = kNoPinned;
  entries[index].previous = list.last;
  (list.last == kNoPinned ? list.first : entries[list.last].next) = index;
  list.last = index;
}

template <typename Entries>
void SlabTable::unlink(List& list, Entries& entries, std::uint32_t index) noexcept {
  const std::uint32_t next = entries[index].next;
  const std::uint32_t previous = entries[index].previous;
  (previous == kNoPinned ? list.first : entries[previous].next) = next;
  (next == kNoPinned ? list.last : entries[next].previous) = previous;
}

// How many slabs begin at or before the pointer.
std::uint32_t SlabTable::position_of(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  std::uint32_t low = 0;
  std::uint32_t high = sorted_count_;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (reinterpret_cast<std::uintptr_t>(slabs_[sorted_[middle]].base) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void SlabTable::add(char* base, std::uint64_t bytes, std::uint32_t size_class,
                    std::uint32_t count) noexcept {
  DREY_ASSERT(has_room() && count <= kSlabBlocksMax && count * bytes_of_class(size_class) <= bytes);
  std::uint32_t slab = free_record_;
  if (slab != kNoPinned) {
    free_record_ = slabs_[slab].next;
  } else {
    slab = used_count_++;
  }
  const std::uint32_t position = position_of(base);
  for (std::uint32_t place = sorted_count_; place > position; --place)
    sorted_[place] = sorted_[place - 1];
  sorted_[position] = slab;
  ++sorted_count_;
  slabs_[slab] = {base,
                  bytes,
                  kNoPinned,
                  kNoPinned,
                  static_cast<std::uint8_t>(size_class),
                  static_cast<std::uint8_t>(count),
                  0};
  // The lowest address is taken first.
  for (std::uint32_t place = count; place-- > 0;) {
    const PinnedIndex index = slab * kSlabBlocksMax + place;
    blocks_[index] = {};
    put_past(index);
  }
}

void SlabTable::remove(std::uint32_t slab) noexcept {
  const PinnedSlab& record = slabs_[slab];
  DREY_ASSERT(record.past_count == record.block_count);
  for (std::uint32_t place = 0; place < record.block_count; ++place)
    unlink(past_[record.size_class], blocks_, slab * kSlabBlocksMax + place);
  unlink(idle_, slabs_, slab);
  forget(slab);
}

void SlabTable::forget(std::uint32_t slab) noexcept {
  const std::uint32_t position = position_of(slabs_[slab].base) - 1;
  DREY_ASSERT(sorted_[position] == slab);
  --sorted_count_;
  for (std::uint32_t place = position; place < sorted_count_; ++place)
    sorted_[place] = sorted_[place + 1];
  slabs_[slab] = {};
  slabs_[slab].next = free_record_;
  free_record_ = slab;
}

Status SlabTable::find(const void* pointer, PinnedIndex* index) const noexcept {
  const std::uint32_t position = position_of(pointer);
  if (position == 0) return Status::kForeignPointer;
  const std::uint32_t number = sorted_[position - 1];
  const PinnedSlab& slab = slabs_[number];
  const auto offset =
      reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(slab.base);
  const std::uint64_t block_bytes = bytes_of_class(slab.size_class);
  if (offset >= slab.block_count * block_bytes) return Status::kForeignPointer;
  if (offset % block_bytes != 0) return Status::kInteriorPointer;
  *index = number * kSlabBlocksMax + static_cast<std::uint32_t>(offset / block_bytes);
  return Status::kOk;
}

// In front, as what was used last is in the caches.
void SlabTable::put_past(PinnedIndex index) noexcept {
  PinnedSlab& slab = slabs_[index / kSlabBlocksMax];
  PinnedBlock& block = blocks_[index];
  block.state = PinnedBlockState::kPast;
  block.stamp_count = 0;
  List& list = past_[slab.size_class];
  block.next = list.first;
  block.previous = kNoPinned;
  (list.first == kNoPinned ? list.last : blocks_[list.first].previous) = index;
  list.first = index;
  if (++slab.past_count == slab.block_count) append(idle_, slabs_, index / kSlabBlocksMax);
}

void SlabTable::take(PinnedIndex index) noexcept {
  PinnedSlab& slab = slabs_[index / kSlabBlocksMax];
  PinnedBlock& block = blocks_[index];
  DREY_ASSERT(block.state != PinnedBlockState::kLive);
  if (block.state == PinnedBlockState::kPast) {
    unlink(past_[slab.size_class], blocks_, index);
    if (slab.past_count-- == slab.block_count) unlink(idle_, slabs_, index / kSlabBlocksMax);
  } else {
    unlink(pending_[slab.size_class], blocks_, index);
  }
  block.state = PinnedBlockState::kLive;
}

void SlabTable::give_back(PinnedIndex index, bool is_past) noexcept {
  PinnedBlock& block = blocks_[index];
  DREY_ASSERT(block.state == PinnedBlockState::kLive);
  if (is_past) {
    put_past(index);
    return;
  }
  block.state = PinnedBlockState::kPending;
  append(pending_[slab_of(index).size_class], blocks_, index);
}

void SlabTable::settle(PinnedIndex index) noexcept {
  DREY_ASSERT(blocks_[index].state == PinnedBlockState::kPending);
  unlink(pending_[slab_of(index).size_class], blocks_, index);
  put_past(index);
}

bool SlabTable::slab_holds(std::uint32_t number) const noexcept {
  const PinnedSlab& slab = slabs_[number];
  std::uint32_t past = 0;
  for (std::uint32_t place = 0; place < slab.block_count; ++place) {
    const PinnedBlock& block = blocks_[number * kSlabBlocksMax + place];
    past += block.state == PinnedBlockState::kPast ? 1 : 0;
    if (block.state == PinnedBlockState::kPast && block.stamp_count != 0) return false;
    if (block.state == PinnedBlockState::kPending && block.stamp_count == 0) return false;
  }
  return past == slab.past_count;
}

bool SlabTable::invariants_hold() const noexcept {
  std::uint32_t idle = 0;
  std::uint64_t free_blocks = 0;
  for (std::uint32_t place = 0; place < sorted_count_; ++place) {
    const PinnedSlab& slab = slabs_[sorted_[place]];
    if (!slab_holds(sorted_[place])) return false;
    idle += slab.past_count == slab.block_count ? 1 : 0;
    free_blocks += slab.past_count;
    if (place != 0) {
      const PinnedSlab& before = slabs_[sorted_[place - 1]];
      if (before.base + before.bytes > slab.base) return false;
    }
  }
  for (std::uint32_t slab = idle_.first; slab != kNoPinned; slab = slabs_[slab].next) {
    if (slabs_[slab].past_count != slabs_[slab].block_count || idle-- == 0) return false;
  }
  for (const List& list : past_) {
    for (PinnedIndex index = list.first; index != kNoPinned; index = blocks_[index].next) {
      if (blocks_[index].state != PinnedBlockState::kPast || free_blocks-- == 0) return false;
    }
  }
  return idle == 0 && free_blocks == 0;
}
}  // namespace drey::cuda
