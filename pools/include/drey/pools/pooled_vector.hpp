// pooled_vector.hpp: who holds one vector of a pool alone.
// Read next: shared_vector.hpp, vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/place_pool.hpp>
#include <drey/pools/vector_ref.hpp>

#include <span>
#include <utility>

namespace drey {
template <typename VectorType>
class BasicVectorPool;

/// Owns one taken vector, or none; gives it back to its pool when it ends.
/// Threads: one at a time; may be moved to, and end in, another thread than it was taken in.
template <typename VectorType>
class BasicPooledVector {
 public:
  using Vector = VectorType;
  using Number = typename Vector::Number;
  using Pool = BasicVectorPool<Vector>;

  BasicPooledVector() noexcept = default;
  BasicPooledVector(BasicPooledVector&& other) noexcept
      : vector_(other.detach()), pool_(other.pool_), taken_(other.taken_) {}
  BasicPooledVector& operator=(BasicPooledVector&& other) noexcept {
    if (this != &other) {
      reset();
      vector_ = other.detach();
      pool_ = other.pool_;
      taken_ = other.taken_;
    }
    return *this;
  }
  BasicPooledVector(const BasicPooledVector&) = delete;
  BasicPooledVector& operator=(const BasicPooledVector&) = delete;
  ~BasicPooledVector() { reset(); }

  /// Gives the vector back now. Nothing happens if there is none.
  void reset() noexcept {
    if (detach() != nullptr) pool_->places_.give_back(taken_);
  }

  /// Leaves the vector to the caller, who gives it back by hand with Pool::give_back().
  [[nodiscard]] Vector* detach() noexcept { return std::exchange(vector_, nullptr); }

  [[nodiscard]] explicit operator bool() const noexcept { return vector_ != nullptr; }
  [[nodiscard]] Vector* get() const noexcept { return vector_; }
  [[nodiscard]] Vector& operator*() const noexcept { return *vector_; }
  [[nodiscard]] Vector* operator->() const noexcept { return vector_; }

  /// Shape: (kValueCount,). Requires: a vector is held.
  [[nodiscard]] std::span<Number, Vector::kValueCount> values() const noexcept {
    return vector_->values();
  }

  /// Names the vector without holding it. Returns: a reference to nothing if none is held.
  [[nodiscard]] VectorRef ref() const noexcept {
    return vector_ == nullptr ? VectorRef() : pool_->ref_to(taken_.place);
  }

 private:
  friend Pool;
  template <typename>
  friend class BasicSharedVector;
  BasicPooledVector(Vector* vector, Pool& pool, TakenPlace taken) noexcept
      : vector_(vector), pool_(&pool), taken_(taken) {}

  Vector* vector_ = nullptr;
  Pool* pool_ = nullptr;              // means nothing while vector_ is null
  TakenPlace taken_ = {kNoPlace, 0};  // the same
};
}  // namespace drey
