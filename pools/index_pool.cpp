// index_pool.cpp: what is not on the way of an ordinary take or give_back.
// Read next: include/drey/pools/index_pool.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/index_pool.hpp>

#include <drey/base/assert.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace drey {
IndexPool::IndexPool(Link* links, std::size_t capacity) noexcept
    : links_(links), capacity_(capacity) {
  DREY_ASSERT(capacity <= kCapacityMax);
  DREY_ASSERT(links != nullptr || capacity == 0);
}

std::uint32_t IndexPool::carve() noexcept {
  // Relaxed: the number alone says whose the place is; a link is published by giving it back.
  std::uint32_t carved = carved_.load(std::memory_order_relaxed);
  do {
    if (carved == capacity_) return kNone;
  } while (!carved_.compare_exchange_weak(carved, carved + 1, std::memory_order_relaxed,
                                          std::memory_order_relaxed));
  ::new (&links_[carved]) Link{.next = {kTaken}, .depth = {0}};
  return carved;
}

bool IndexPool::stayed_empty(std::uint64_t empty_head) noexcept {
  // Had a place come and gone in between, it would have been counted in the head as taken. So an
  // equal head means an empty stack all along, and everything was carved at the end of that time.
  // Acquire: as in take().
  if (head_.load(std::memory_order_acquire) != empty_head) return false;
  exhausted_count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic; counts() reads
  return true;
}

IndexPoolCounts IndexPool::counts() const noexcept {
  constexpr std::uint64_t kCountMask = (std::uint64_t{1} << 40) - 1;
  // Acquire, pairs with the release in give_back(): the depth below belongs to a place carved by
  // now, so the difference is never negative.
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  const std::uint64_t free_places = free_count(head);
  const std::uint64_t carved = carved_.load(std::memory_order_relaxed);
  IndexPoolCounts counts{};
  counts.taken = carved > free_places ? carved - free_places : 0;
  counts.taken_peak = carved;
  counts.take_count = ((head / kOneTake) + carved) & kCountMask;
  counts.give_back_count = (counts.take_count - counts.taken) & kCountMask;
  counts.exhausted_count = exhausted_count_.load(std::memory_order_relaxed);
  return counts;
}

bool IndexPool::invariants_hold() const noexcept {
  const std::uint32_t carved =
      carved_.load(std::memory_order_relaxed);  // relaxed: nobody else here
  if (carved > capacity_) return false;
  std::uint32_t position = position_of(head_.load(std::memory_order_relaxed));
  std::uint32_t depth = free_count(position);
  if (depth > carved) return false;
  std::uint32_t taken = 0;
  for (std::uint32_t index = 0; index < carved; ++index) {
    taken += links_[index].next.load(std::memory_order_relaxed) == kTaken ? 1 : 0;
  }
  if (carved != taken + depth) return false;
  for (; position != kEnd; --depth) {
    if (position > carved) return false;
    const Link& link = links_[position - 1];
    if (link.depth.load(std::memory_order_relaxed) != depth) return false;
    position = link.next.load(std::memory_order_relaxed);
  }
  return depth == 0;
}
}  // namespace drey
