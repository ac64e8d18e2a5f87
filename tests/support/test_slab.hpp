// test_slab.hpp: one slab over plain memory, for tests of what a slab does alone: no store, no map.
//
// Invariant: its owner is null until a test gives it one; it is in state kQueued and empty at
// first. Never let such a slab be released: it has no segment. Read next: test_heap.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/parcel.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace drey::core {
class TestSlab {
 public:
  explicit TestSlab(SizeClass size_class) {
    const std::size_t slices = slab_slices_of(size_class);
    memory_ = static_cast<std::byte*>(std::aligned_alloc(kSliceBytes, slices * kSliceBytes));
    slab_.open(size_class, memory_, slices, true);
  }
  ~TestSlab() { std::free(memory_); }
  TestSlab(const TestSlab&) = delete;
  TestSlab& operator=(const TestSlab&) = delete;

  Slab& operator*() noexcept { return slab_; }
  Slab* operator->() noexcept { return &slab_; }
  Slab* get() noexcept { return &slab_; }

 private:
  Slab slab_{};
  std::byte* memory_ = nullptr;
};

/// What malloc's hit path does, and counts the block where the state's equation counts any.
/// Returns: null if the list is empty.
inline Block* pop_counted(Slab& slab) noexcept {
  Block* const block = slab.free;
  if (block == nullptr) return nullptr;
  slab.free = block->next;
  if (slab.state != SlabState::kCurrent) slab.countdown += 1;
  return block;
}

/// What free's hit path does, without acting on a countdown that has reached zero.
/// Returns: true if it has.
inline bool push_counted(Slab& slab, Block* block) noexcept {
  block->next = slab.free;
  slab.free = block;
  return --slab.countdown == 0;
}

/// Every block that is left, in the order they come.
[[nodiscard]] inline std::vector<Block*> take_all(Slab& slab) {
  std::vector<Block*> blocks;
  for (;;) {
    while (Block* const block = pop_counted(slab)) blocks.push_back(block);
    if (!slab.carve()) return blocks;
  }
}

template <typename Pointer>
[[nodiscard]] bool all_distinct(std::vector<Pointer> pointers) {
  std::sort(pointers.begin(), pointers.end());
  return std::adjacent_find(pointers.begin(), pointers.end()) == pointers.end();
}

/// Links `blocks` from first to last and ends the chain.
inline void link_chain(const std::vector<Block*>& blocks) noexcept {
  for (std::size_t index = 0; index + 1 < blocks.size(); ++index) {
    blocks[index]->next = blocks[index + 1];
  }
  blocks.back()->next = nullptr;
}

/// Blocks in a list. Requires: it ends.
[[nodiscard]] inline std::vector<Block*> list_of(Block* head) {
  std::vector<Block*> blocks;
  for (; head != nullptr; head = head->next) blocks.push_back(head);
  return blocks;
}

/// Blocks in the slab's remote chain.
[[nodiscard]] inline std::vector<Block*> remote_list_of(const Slab& slab) {
  std::vector<Block*> blocks;
  visit_parcels(slab, reinterpret_cast<Block*>(slab.remote.load() & ~Slab::kAnnounced),
                [&](const Block* block) {
                  blocks.push_back(const_cast<Block*>(block));
                  return true;
                });
  return blocks;
}
}  // namespace drey::core
