// pooled_vector.hpp: who holds one vector of a pool: one handle, or a reference that does not hold it.
// Read next: shared_vector.hpp, vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/place_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace drey {
template <typename VectorType>
class BasicVectorPool;

/// Eight bytes that name a taken vector without holding it: its index and the generation in which it
/// was taken. The pool's find() knows when the vector has been given back since.
/// Threads: a value, as any.
class VectorRef {
 public:
  /// Names nothing.
  VectorRef() noexcept = default;
  VectorRef(std::uint32_t place, std::uint8_t pool_tag, std::uint32_t generation) noexcept
      : place_and_tag_((std::uint32_t{pool_tag} << kPlaceBits) | place), generation_(generation) {}

  [[nodiscard]] std::uint32_t place() const noexcept {
    return place_and_tag_ & ((1U << kPlaceBits) - 1);
  }
  [[nodiscard]] std::uint8_t pool_tag() const noexcept {
    return static_cast<std::uint8_t>(place_and_tag_ >> kPlaceBits);
  }
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
  friend bool operator==(VectorRef one, VectorRef other) noexcept = default;

 private:
  static constexpr int kPlaceBits = 24;
  static_assert(kPlacesMax < (std::size_t{1} << kPlaceBits));

  std::uint32_t place_and_tag_ = 0;
  std::uint32_t generation_ = 0;  // even: never that of a taken vector
};
static_assert(sizeof(VectorRef) == 8);

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
