// block_table.cpp: see block_table.hpp.
// SPDX-License-Identifier: MIT
#include "heap/block_table.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
bool BlockTable::open(std::uint32_t granules) noexcept {
  const std::size_t records = granules < kBlocksMax ? granules + std::size_t{2} : kBlocksMax;
  if (!blocks_.take(records) || !map_.take(granules) || !uses_.take(kUsesMax)) {
    close();
    return false;
  }
  granules_ = granules;
  record_count_ = use_count_ = 1;  // 0 is none
  first_ = new_record();
  Block& whole = blocks_[first_];
  whole.state = BlockState::kHole;
  whole.size_class = kNoClass;
  whole.granules = granules;
  whole.stamp = kPastStamp;
  set_map(0, first_);
  return true;
}

void BlockTable::close() noexcept {
  blocks_.give_back();
  map_.give_back();
  uses_.give_back();
  granules_ = 0;
  first_ = free_record_ = kNoBlock;
  record_count_ = use_count_ = free_use_ = 0;
}

BlockIndex BlockTable::new_record() noexcept {
  BlockIndex index = free_record_;
  if (index != kNoBlock) {
    free_record_ = blocks_[index].next;
  } else {
    if (record_count_ == blocks_.size()) return kNoBlock;
    index = record_count_++;
  }
  blocks_[index] = {};
  return index;
}

BlockIndex BlockTable::around(std::uint32_t granule) const noexcept {
  while (at(granule) == kNoBlock) --granule;  // the arena's first block begins at 0
  return at(granule);
}

BlockIndex BlockTable::split(BlockIndex index, std::uint32_t granules) noexcept {
  DREY_ASSERT(granules != 0 && granules < blocks_[index].granules);
  const BlockIndex behind = new_record();
  if (behind == kNoBlock) return kNoBlock;
  Block& front = blocks_[index];
  Block& back = blocks_[behind];
  back = front;
  back.uses = 0;
  if (!copy_uses(front, back)) {
    drop_uses(back);
    back.state = BlockState::kUnused;
    back.next = free_record_;
    free_record_ = behind;
    return kNoBlock;
  }
  back.first = front.first + granules;
  back.granules = front.granules - granules;
  back.before = index;
  back.next = back.previous = kNoBlock;
  if (back.after != kNoBlock) blocks_[back.after].before = behind;
  front.granules = granules;
  front.after = behind;
  set_map(back.first, behind);
  return behind;
}

void BlockTable::join(BlockIndex index) noexcept {
  Block& front = blocks_[index];
  const BlockIndex behind = front.after;
  Block& back = blocks_[behind];
  DREY_ASSERT(back.uses == 0);
  front.granules += back.granules;
  front.after = back.after;
  if (back.after != kNoBlock) blocks_[back.after].before = index;
  set_map(back.first, kNoBlock);
  back.state = BlockState::kUnused;
  back.next = free_record_;
  free_record_ = behind;
}

bool BlockTable::add_use(Block& block, StreamIndex stream, std::uint64_t epoch) noexcept {
  for (std::uint32_t index = block.uses; index != 0; index = uses_[index].next) {
    Use& known = uses_[index];
    if (!(known.stream == stream)) continue;
    if (known.epoch < epoch) known.epoch = epoch;
    return true;
  }
  std::uint32_t index = free_use_;
  if (index != 0) {
    free_use_ = uses_[index].next;
  } else {
    if (use_count_ == uses_.size()) return false;
    index = use_count_++;
  }
  uses_[index] = {stream, epoch, block.uses};
  block.uses = index;
  return true;
}

void BlockTable::drop_uses(Block& block) noexcept {
  while (block.uses != 0) {
    const std::uint32_t index = block.uses;
    block.uses = uses_[index].next;
    uses_[index].next = free_use_;
    free_use_ = index;
  }
}

bool BlockTable::copy_uses(const Block& from, Block& to) noexcept {
  for (std::uint32_t index = from.uses; index != 0; index = uses_[index].next) {
    if (!add_use(to, uses_[index].stream, uses_[index].epoch)) return false;
  }
  return true;
}

bool BlockTable::invariants_hold() const noexcept {
  std::uint32_t expected = 0;
  BlockIndex before = kNoBlock;
  for (BlockIndex index = first_; index != kNoBlock; index = blocks_[index].after) {
    const Block& block = blocks_[index];
    if (block.first != expected || block.granules == 0 || block.before != before) return false;
    if (block.state == BlockState::kUnused || at(block.first) != index) return false;
    expected = block.end();
    before = index;
  }
  return expected == granules_;
}
}  // namespace drey::cuda
