// vector_batch.hpp: many vectors taken and given back at once, for less than a nanosecond each.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>
#include <drey/pools/pooled_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace drey {
/// Owns up to kRoom taken vectors; gives them back together when it ends.
/// Threads: one at a time; may be moved to, and end in, another thread than it was taken in.
template <typename VectorType>
class BasicVectorBatch {
 public:
  using Vector = VectorType;
  using Pool = BasicVectorPool<Vector>;
  static constexpr std::size_t kRoom = 128;  ///< vectors: one training batch

  BasicVectorBatch() noexcept {}  // NOLINT(modernize-use-equals-default): leaves places_ as it is
  BasicVectorBatch(BasicVectorBatch&& other) noexcept { take_over(other); }
  BasicVectorBatch& operator=(BasicVectorBatch&& other) noexcept {
    if (this != &other) {
      reset();
      take_over(other);
    }
    return *this;
  }
  BasicVectorBatch(const BasicVectorBatch&) = delete;
  BasicVectorBatch& operator=(const BasicVectorBatch&) = delete;
  ~BasicVectorBatch() { reset(); }

  /// Gives all of them back now.
  void reset() noexcept {
    if (count_ != 0) pool_->places_.give_back_batch(places_, std::exchange(count_, 0));
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }  ///< vectors
  /// Requires: index < count().
  [[nodiscard]] Vector& operator[](std::size_t index) const noexcept {
    DREY_ASSERT(index < count_);
    return *pool_->vector(places_[index]);
  }

  /// Takes the last vector out of the batch, to be held alone. Empty if there is none.
  [[nodiscard]] BasicPooledVector<Vector> release_last() noexcept {
    if (count_ == 0) return {};
    return pool_->adopt(places_[--count_]);
  }

 private:
  friend Pool;

  void take_over(BasicVectorBatch& other) noexcept {
    pool_ = other.pool_;
    count_ = std::exchange(other.count_, 0);
    std::memcpy(places_, other.places_, count_ * sizeof(std::uint32_t));
  }

  Pool* pool_ = nullptr;
  std::size_t count_ = 0;
  std::uint32_t places_[kRoom];  // [0, count_)
};
}  // namespace drey
