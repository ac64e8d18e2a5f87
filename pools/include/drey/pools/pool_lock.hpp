// pool_lock.hpp: the lock of a pool's shared part: the C library's mutex, without the C++ runtime that
// std::mutex needs to throw, so that C programs link with nothing more.
// Read next: place_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

namespace drey {
/// Threads: any. For std::lock_guard.
class PoolLock {
 public:
  constexpr PoolLock() noexcept = default;
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }  // cannot fail: plain, never taken twice
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
}  // namespace drey
