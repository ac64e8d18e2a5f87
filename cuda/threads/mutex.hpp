// mutex.hpp: the allocator's lock: the C library's, which the thread sanitizer and fork handlers know.
// Invariant: not recursive. All-zero is free, so one in static storage needs no constructor.
// Read next: docs/CONCURRENCY.md, "Locks".
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

namespace drey::cuda {
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void acquire() noexcept { ::pthread_mutex_lock(&mutex_); }
  void release() noexcept { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a mutex for a scope; may let go of it in between.
class MutexHolder {
 public:
  explicit MutexHolder(Mutex& mutex) noexcept : mutex_(mutex) { mutex_.acquire(); }
  ~MutexHolder() { mutex_.release(); }
  MutexHolder(const MutexHolder&) = delete;
  MutexHolder& operator=(const MutexHolder&) = delete;

 private:
  Mutex& mutex_;
};
}  // namespace drey::cuda
