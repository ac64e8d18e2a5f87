// index_pool.hpp: which of N places are free: the part of a pool that threads share.
//
// A stack of free places without a lock: the head is one 64-bit word, the top place and the number
// of takes from the stack so far. The number makes a compare-exchange fail when the same place has
// come back on top meanwhile (the ABA problem). Places never given out are not on the stack: they
// are carved in order, and only when it is empty.
// Invariants: (1) carved = taken + free; (2) link.next is kTaken exactly while a place is taken;
// (3) link.depth counts the free places from there down; (4) the head changes only by
// read-modify-write once there is a second thread.
// Consequence of carving last: carved is the highest number taken at once, so no counter is paid.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>
#include <drey/base/units.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/single_threaded.h>

namespace drey {
/// What became of giving a place back.
enum class GiveBackResult : std::uint8_t {
  kDone,
  kNeverTaken,
  kAlreadyFree,
};

/// Counts of one pool; a snapshot while other threads work, exact while they do not.
struct IndexPoolCounts {
  std::uint64_t taken;            ///< places out now
  std::uint64_t taken_peak;       ///< most places out at once so far
  std::uint64_t take_count;       ///< successful takes so far, modulo 2^40
  std::uint64_t give_back_count;  ///< places given back so far, modulo 2^40
  std::uint64_t exhausted_count;  ///< takes that found every place taken
};

/// Hands out the numbers 0 ... capacity - 1, each to one holder at a time, last given back first.
/// Threads: any, for take(), give_back() and counts(). No call waits for another thread.
/// Signal handlers: not from one.
class IndexPool {
 public:
  /// What the pool knows of one place. Not constructed until the place is carved.
  struct Link {
    std::atomic<std::uint32_t> next;   ///< position below, kEnd or kTaken
    std::atomic<std::uint32_t> depth;  ///< free places from here down, itself included
  };

  static constexpr std::uint32_t kNone = UINT32_MAX;  ///< no index
  static constexpr std::size_t kCapacityMax = (std::size_t{1} << 24) - 2;

  /// Requires: capacity <= kCapacityMax; memory for that many links, left as it is, which outlives
  /// the pool.
  IndexPool(Link* links, std::size_t capacity) noexcept;
  IndexPool(const IndexPool&) = delete;
  IndexPool& operator=(const IndexPool&) = delete;

  /// Fails: kNone if, at a moment during the call, every place was taken.
  /// Cost:  one compare-exchange; a plain store while the process has one thread.
  [[nodiscard]] std::uint32_t take() noexcept {
    for (;;) {
      // Acquire, pairs with the release in give_back(): the place's link and contents are seen.
      std::uint64_t head = head_.load(std::memory_order_acquire);
      while (position_of(head) != kEnd) {
        const std::uint32_t index = position_of(head) - 1;
        Link& link = links_[index];
        // Relaxed: ordered by the acquire above. If another thread took the place in between, this
        // is stale, and so is `head`: the exchange below fails.
        const std::uint64_t next = link.next.load(std::memory_order_relaxed) & kPositionMask;
        const std::uint64_t wanted = ((head & ~kPositionMask) + kOneTake) | next;
        if (exchange_head(head, wanted, std::memory_order_acquire)) [[likely]] {
          // Relaxed: read by the holder, or by a thread the holder synchronised with.
          link.next.store(kTaken, std::memory_order_relaxed);
          return index;
        }
      }
      if (const std::uint32_t index = carve(); index != kNone) return index;
      if (stayed_empty(head)) return kNone;
    }
  }

  /// Requires: index < capacity. Anything but kDone leaves the pool as it was. Two threads that
  /// give the same place back at the same instant, both first, are not told apart.
  [[nodiscard]] GiveBackResult give_back(std::uint32_t index) noexcept {
    DREY_ASSERT(index < capacity_);
    // Relaxed: the caller holds the place, so its carving happened before.
    if (index >= carved_.load(std::memory_order_relaxed)) return GiveBackResult::kNeverTaken;
    Link& link = links_[index];
    if (link.next.load(std::memory_order_relaxed) != kTaken) return GiveBackResult::kAlreadyFree;
    // Acquire, pairs with the release of whoever pushed the head: its depth is read below.
    std::uint64_t head = head_.load(std::memory_order_acquire);
    do {
      // Relaxed: published by the release of the exchange.
      link.next.store(position_of(head), std::memory_order_relaxed);
      link.depth.store(free_count(head) + 1, std::memory_order_relaxed);
    } while (
        !exchange_head(head, (head & ~kPositionMask) | (index + 1), std::memory_order_release));
    return GiveBackResult::kDone;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] IndexPoolCounts counts() const noexcept;

  /// Walks the whole stack. Requires: no other thread uses the pool.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  // A position is index + 1, so that 0 can be the end. The head is takes << 24 | position.
  static constexpr std::uint32_t kEnd = 0;
  static constexpr std::uint32_t kTaken = UINT32_MAX;
  static constexpr std::uint64_t kOneTake = std::uint64_t{1} << 24;
  static constexpr std::uint64_t kPositionMask = kOneTake - 1;
  static_assert(kCapacityMax < kPositionMask);

  [[nodiscard]] static std::uint32_t position_of(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head & kPositionMask);
  }

  /// Replaces the head if it is still `seen`; else sets `seen` to what it is.
  [[nodiscard]] bool exchange_head(std::uint64_t& seen, std::uint64_t wanted,
                                   std::memory_order order_on_success) noexcept {
    if (__libc_single_threaded != 0) {
      // Nobody else can have changed it. Relaxed: starting a thread publishes it.
      head_.store(wanted, std::memory_order_relaxed);
      return true;
    }
    // Acquire on failure: as the loads of the head in take() and give_back(), which it repeats.
    return head_.compare_exchange_weak(seen, wanted, order_on_success, std::memory_order_acquire);
  }

  [[nodiscard]] std::uint32_t free_count(std::uint64_t head) const noexcept {
    const std::uint32_t position = position_of(head);
    // Relaxed: ordered by the acquire that read `head`.
    return position == kEnd ? 0 : links_[position - 1].depth.load(std::memory_order_relaxed);
  }

  /// The next place never given out. Fails: kNone when there is none left.
  [[nodiscard, gnu::noinline]] std::uint32_t carve() noexcept;

  /// True, and counted, if nothing was given back since the stack was seen empty with this head.
  [[nodiscard, gnu::cold]] bool stayed_empty(std::uint64_t empty_head) noexcept;

  alignas(kCacheLineBytes) std::atomic<std::uint64_t> head_{kEnd};
  Link* const links_;
  const std::size_t capacity_;
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> carved_{0};
  std::atomic<std::uint64_t> exhausted_count_{0};
};
}  // namespace drey
