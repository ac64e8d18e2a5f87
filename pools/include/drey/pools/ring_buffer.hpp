// ring_buffer.hpp: the last N values, in place: a push into a full ring replaces the oldest.
//
// Invariants: size() <= N; the values lie oldest first in first_half(), then second_half(), which is
// empty unless the ring wraps; outside of them no T lives.
// Read next: spsc_ring.hpp, for two threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace drey {
/// Room for N values within the object; never allocates. Threads: one at a time.
template <typename T, std::size_t N>
class RingBuffer {
 public:
  static_assert(N >= 1, "a ring of no values could hold none");
  static_assert(N <= static_cast<std::size_t>(-1) / 2 / sizeof(T));
  static_assert(std::is_object_v<T> && std::is_nothrow_destructible_v<T>);

  RingBuffer() noexcept = default;
  ~RingBuffer() { clear(); }
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  [[nodiscard]] bool is_full() const noexcept { return size_ == N; }

  /// Appends a value, in the oldest one's place if the ring is full. Returns: the new value.
  /// Requires: no argument refers into the oldest value of a full ring, which ends first.
  /// What T's constructor throws comes through; the oldest is gone then if the ring was full.
  template <typename... Arguments>
  T& push(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
    if (size_ == N) drop_oldest();
    return append(std::forward<Arguments>(arguments)...);
  }

  /// Appends a value unless the ring is full. Returns: false then; nothing has changed.
  template <typename... Arguments>
  [[nodiscard]] bool try_push(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    if (size_ == N) return false;
    append(std::forward<Arguments>(arguments)...);
    return true;
  }

  /// Moves the oldest value into `value`. Returns: false if there is none; `value` is untouched.
  [[nodiscard]] bool try_pop(T& value) noexcept(std::is_nothrow_move_assignable_v<T>) {
    if (size_ == 0) return false;
    value = std::move(*place(begin_));
    drop_oldest();
    return true;
  }

  /// Ends the oldest value. Requires: not empty.
  void drop_oldest() noexcept {
    DREY_ASSERT(size_ != 0);
    std::destroy_at(place(begin_));
    begin_ = begin_ + 1 == N ? 0 : begin_ + 1;
    --size_;
  }

  void clear() noexcept {
    while (size_ != 0) drop_oldest();
    begin_ = 0;
  }

  /// The index-th oldest. Requires: index < size().
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return *place(slot_of(index)); }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return *place(slot_of(index));
  }
  /// Require: not empty.
  [[nodiscard]] T& oldest() noexcept { return (*this)[0]; }
  [[nodiscard]] const T& oldest() const noexcept { return (*this)[0]; }
  [[nodiscard]] T& newest() noexcept { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& newest() const noexcept { return (*this)[size_ - 1]; }

  /// The values from the oldest to the end of the room. Shape: at most (N,).
  [[nodiscard]] std::span<T> first_half() noexcept { return {place(begin_), first_size()}; }
  [[nodiscard]] std::span<const T> first_half() const noexcept {
    return {place(begin_), first_size()};
  }
  /// Those that continue at the beginning of the room. Shape: (size() - first_half().size(),).
  [[nodiscard]] std::span<T> second_half() noexcept { return {place(0), size_ - first_size()}; }
  [[nodiscard]] std::span<const T> second_half() const noexcept {
    return {place(0), size_ - first_size()};
  }

  [[nodiscard]] bool invariants_hold() const noexcept { return size_ <= N && begin_ < N; }

 private:
  template <typename... Arguments>
  T& append(Arguments&&... arguments) {
    const std::size_t end = begin_ + size_;
    T* const value = ::new (static_cast<void*>(room_ + (end < N ? end : end - N) * sizeof(T)))
        T(std::forward<Arguments>(arguments)...);
    ++size_;
    return *value;
  }

  [[nodiscard]] std::size_t first_size() const noexcept {
    return size_ < N - begin_ ? size_ : N - begin_;
  }
  [[nodiscard]] std::size_t slot_of(std::size_t index) const noexcept {
    DREY_ASSERT(index < size_);
    const std::size_t slot = begin_ + index;
    return slot < N ? slot : slot - N;
  }
  [[nodiscard]] T* place(std::size_t slot) noexcept {
    return std::launder(reinterpret_cast<T*>(room_ + slot * sizeof(T)));
  }
  [[nodiscard]] const T* place(std::size_t slot) const noexcept {
    return std::launder(reinterpret_cast<const T*>(room_ + slot * sizeof(T)));
  }

  alignas(T) std::byte room_[N * sizeof(T)];
  std::size_t begin_ = 0;  // the oldest value's slot
  std::size_t size_ = 0;
};
}  // namespace drey
