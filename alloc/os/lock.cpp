// lock.cpp: what a thread does that finds a lock held: spin a little, then sleep on a futex.
// Read next: lock.hpp.
// SPDX-License-Identifier: MIT
#include "os/lock.hpp"

#include <cerrno>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::os {
namespace {
constexpr int kSpinCount = 64;

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  const int saved_errno = errno;
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  errno = saved_errno;
}
}  // namespace

void Lock::acquire_contended() noexcept {
  for (int spin = 0; spin < kSpinCount; ++spin) {
    std::uint32_t expected = 0;
    // Acquire on success: pairs with release().
    if (word_.load(std::memory_order_relaxed) == 0 &&
        word_.compare_exchange_weak(expected, 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
  // 2 says that somebody may sleep; whoever takes the lock here keeps saying so, because it cannot
  // know that it was the last. Acquire: pairs with release().
  while (word_.exchange(2, std::memory_order_acquire) != 0) futex(word_, FUTEX_WAIT, 2);
}

void Lock::wake_one() noexcept {
  futex(word_, FUTEX_WAKE, 1);
}
}  // namespace drey::os
