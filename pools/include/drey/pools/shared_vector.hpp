// shared_vector.hpp: one vector with several holders; the last gives it back.
//
// The count lies in the pool, four bytes a vector, touched only by vectors that are shared. It is
// counted without atomic read-modify-writes until share_across_threads() is called.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/pooled_vector.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

namespace drey {
/// One of the holders of a vector.
/// Threads: all copies belong to one thread until share_across_threads() is called on one of them,
/// by that thread, before another thread gets any; from then on each copy is one thread's at a time,
/// as a std::shared_ptr. What the holders do to the values is theirs to order.
template <typename VectorType>
class BasicSharedVector {
 public:
  using Vector = VectorType;
  using Number = typename Vector::Number;
  using Pool = BasicVectorPool<Vector>;

  BasicSharedVector() noexcept = default;

  /// Takes the vector over; its only holder at first. Empty from empty.
  explicit BasicSharedVector(BasicPooledVector<Vector>&& vector) noexcept
      : vector_(vector.detach()), pool_(vector.pool_), taken_(vector.taken_) {
    // Relaxed: nobody else knows of the vector.
    if (vector_ != nullptr) holders().store(1, std::memory_order_relaxed);
  }

  BasicSharedVector(const BasicSharedVector& other) noexcept
      : vector_(other.vector_), pool_(other.pool_), taken_(other.taken_) {
    if (vector_ != nullptr) add_holder();
  }
  BasicSharedVector(BasicSharedVector&& other) noexcept
      : vector_(std::exchange(other.vector_, nullptr)), pool_(other.pool_), taken_(other.taken_) {}
  BasicSharedVector& operator=(BasicSharedVector other) noexcept {
    std::swap(vector_, other.vector_);
    std::swap(pool_, other.pool_);
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~BasicSharedVector() { reset(); }

  /// Ceases to hold the vector. Nothing happens if there is none.
  void reset() noexcept {
    if (std::exchange(vector_, nullptr) == nullptr || !is_last_holder()) return;
    pool_->places_.give_back(taken_);
  }

  /// From here on copies may be in several threads, and counting is atomic, until the last is gone.
  /// Requires: as the class says. Nothing happens if there is no vector.
  void share_across_threads() noexcept {
    // Relaxed: the copies' way to other threads orders it.
    if (vector_ == nullptr) return;
    holders().store(holders().load(std::memory_order_relaxed) | kCrossesThreads,
                    std::memory_order_relaxed);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return vector_ != nullptr; }
  [[nodiscard]] Vector* get() const noexcept { return vector_; }
  [[nodiscard]] Vector& operator*() const noexcept { return *vector_; }
  [[nodiscard]] Vector* operator->() const noexcept { return vector_; }

  /// Shape: (kValueCount,). Requires: a vector is held.
  [[nodiscard]] std::span<Number, Vector::kValueCount> values() const noexcept {
    return vector_->values();
  }
  [[nodiscard]] VectorRef ref() const noexcept {
    return vector_ == nullptr ? VectorRef() : pool_->ref_to(taken_.place);
  }

  /// A snapshot if others hold it in other threads; 0 if there is no vector.
  [[nodiscard]] std::uint32_t holder_count() const noexcept {
    return vector_ == nullptr ? 0 : holders().load(std::memory_order_relaxed) & ~kCrossesThreads;
  }

 private:
  static constexpr std::uint32_t kCrossesThreads = std::uint32_t{1} << 31;

  [[nodiscard]] std::atomic<std::uint32_t>& holders() const noexcept {
    return pool_->memory_.holders()[taken_.place];
  }

  void add_holder() const noexcept {
    // Relaxed: who copies holds it already, so it cannot go to zero meanwhile.
    const std::uint32_t count = holders().load(std::memory_order_relaxed);
    if ((count & kCrossesThreads) != 0) {
      holders().fetch_add(1, std::memory_order_relaxed);
    } else {
      holders().store(count + 1, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] bool is_last_holder() const noexcept {
    const std::uint32_t count = holders().load(std::memory_order_relaxed);
    if ((count & kCrossesThreads) == 0) {
      holders().store(count - 1, std::memory_order_relaxed);
      return count == 1;
    }
    // Acquire and release, pairs with itself: the last sees what the others did to the values.
    return (holders().fetch_sub(1, std::memory_order_acq_rel) & ~kCrossesThreads) == 1;
  }

  Vector* vector_ = nullptr;
  Pool* pool_ = nullptr;
  TakenPlace taken_ = {kNoPlace, 0};
};
}  // namespace drey
