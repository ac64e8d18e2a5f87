// lock.hpp: the one kind of lock in the allocator, for what is process-wide and rare.
//
// Invariants: word is 0 free, 1 held, 2 held with sleepers. All-zero is free, so a static Lock
// needs no constructor and can be the first thing a process touches. Not recursive. Never a
// cancellation point: waiting is a raw futex call.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace drey::os {
class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void acquire() noexcept {
    std::uint32_t expected = 0;
    // Acquire: sees all that the last holder wrote; pairs with release().
    if (!word_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]] {
      acquire_contended();
    }
  }

  /// Returns: false if somebody holds it, perhaps the caller.
  [[nodiscard]] bool try_acquire() noexcept {
    std::uint32_t expected = 0;
    // Acquire: as acquire().
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  void release() noexcept {
    // Release: publishes the critical section; pairs with acquire().
    if (word_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      wake_one();
  }

 private:
  void acquire_contended() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> word_{0};
};

/// Holds a lock for a scope.
class LockHolder {
 public:
  explicit LockHolder(Lock& lock) noexcept : lock_(lock) { lock_.acquire(); }
  ~LockHolder() { lock_.release(); }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

 private:
  Lock& lock_;
};
}  // namespace drey::os
