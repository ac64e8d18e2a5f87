// spsc_ring.hpp: a queue of N places between one producing and one consuming thread, without locks.
//
// Two counts, each written by one side: values ever pushed, values ever popped; a place is the count
// modulo N. Each side keeps a copy of the other's count and reads the real one only when the copy
// says full or empty, so that in the steady state a push and a pop share no cache line but the
// value's own.
// Invariants: popped <= pushed <= popped + N; values live in the places [popped, pushed).
// Read next: docs/CONCURRENCY.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace drey {
/// Never allocates. Threads: one for try_push(), one for try_pop(), at the same time; nobody waits.
/// Construction and destruction: no other thread.
template <typename T, std::size_t N>
class SpscRing {
 public:
  static_assert(is_power_of_two(N), "places are counts modulo N");
  static_assert(std::is_object_v<T> && std::is_nothrow_destructible_v<T>);

  SpscRing() noexcept = default;
  ~SpscRing() {
    // Relaxed: nobody else is there.
    const std::size_t pushed = pushed_.load(std::memory_order_relaxed);
    for (std::size_t i = popped_.load(std::memory_order_relaxed); i != pushed; ++i)
      std::destroy_at(place(i));
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }

  /// Appends a value. Returns: false if the ring is full; the arguments are untouched.
  /// Threads: the producer.
  template <typename... Arguments>
  [[nodiscard]] bool try_push(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    // Relaxed: this thread alone writes it.
    const std::size_t pushed = pushed_.load(std::memory_order_relaxed);
    if (pushed - popped_seen_ == N) {
      // Acquire, pairs with the release in try_pop(): the place's old value is gone.
      popped_seen_ = popped_.load(std::memory_order_acquire);
      if (pushed - popped_seen_ == N) return false;
    }
    ::new (static_cast<void*>(room_ + (pushed % N) * sizeof(T)))
        T(std::forward<Arguments>(arguments)...);
    // Release, pairs with the acquire in try_pop(): publishes the value.
    pushed_.store(pushed + 1, std::memory_order_release);
    return true;
  }

  /// Moves the oldest value into `value`. Returns: false if there is none; `value` is untouched.
  /// Threads: the consumer.
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_move_assignable_v<T>) {
    // Relaxed: this thread alone writes it.
    const std::size_t popped = popped_.load(std::memory_order_relaxed);
    if (popped == pushed_seen_) {
      // Acquire, pairs with the release in try_push(): the value is there.
      pushed_seen_ = pushed_.load(std::memory_order_acquire);
      if (popped == pushed_seen_) return false;
    }
    T* const oldest = place(popped);
    value = std::move(*oldest);
    std::destroy_at(oldest);
    // Release, pairs with the acquire in try_push(): the place may be used again.
    popped_.store(popped + 1, std::memory_order_release);
    return true;
  }

  /// Values in the ring at about now; exact for a thread while the other does nothing.
  [[nodiscard]] std::size_t size() const noexcept {
    // Acquire on both, pair with the releases above. Popped first: it never overtakes pushed.
    const std::size_t popped = popped_.load(std::memory_order_acquire);
    return pushed_.load(std::memory_order_acquire) - popped;
  }

 private:
  [[nodiscard]] T* place(std::size_t count) noexcept {
    return std::launder(reinterpret_cast<T*>(room_ + (count % N) * sizeof(T)));
  }

  alignas(kCacheLineBytes) std::atomic<std::size_t> pushed_{0};  // written by the producer
  std::size_t popped_seen_ = 0;                                  // the producer's copy
  alignas(kCacheLineBytes) std::atomic<std::size_t> popped_{0};  // written by the consumer
  std::size_t pushed_seen_ = 0;                                  // the consumer's copy
  alignas(alignof(T) > kCacheLineBytes ? alignof(T)
                                       : kCacheLineBytes) std::byte room_[N * sizeof(T)];
};
}  // namespace drey
