// vector_pool.hpp: hands out vectors of 225 floats, one observation each.
//
// A fixed number of vectors, side by side on cache lines (vector225.hpp says why a pool needs less
// memory than malloc for them). Any thread may take, any may give back.
// Invariants: taken() <= capacity(); no two taken vectors overlap; addresses never change; the
// lanes behind the values are zero whenever a vector is taken.
// Read next: index_pool.hpp, which has the part that threads share.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/pools/index_pool.hpp>
#include <drey/pools/pool_memory.hpp>
#include <drey/pools/vector225.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace drey {
template <typename Number, std::size_t kCount>
class BasicVectorPool;

/// What a taken vector's values are before the taker writes them.
enum class VectorContents : std::uint8_t {
  kUnspecified,  ///< whatever was there
  kZero,
};

/// Counts of one pool: a snapshot while other threads work, exact while they do not.
struct VectorPoolStatistics : IndexPoolCounts {
  std::size_t capacity;        ///< vectors
  std::size_t reserved_bytes;  ///< address space held for vectors and their links
  std::size_t touched_bytes;   ///< of that, vectors ever taken
};

/// Owns one taken vector, or none; gives it back to its pool when it ends.
/// Threads: one at a time; may be moved to, and end in, another thread than it was taken in.
template <typename Number, std::size_t kCount>
class BasicPooledVector {
 public:
  using Vector = PaddedVector<Number, kCount>;
  using Pool = BasicVectorPool<Number, kCount>;

  BasicPooledVector() noexcept = default;
  BasicPooledVector(BasicPooledVector&& other) noexcept
      : vector_(other.detach()), pool_(other.pool_) {}
  BasicPooledVector& operator=(BasicPooledVector&& other) noexcept {
    if (this != &other) {
      reset();
      vector_ = other.detach();
      pool_ = other.pool_;
    }
    return *this;
  }
  BasicPooledVector(const BasicPooledVector&) = delete;
  BasicPooledVector& operator=(const BasicPooledVector&) = delete;
  ~BasicPooledVector() { reset(); }

  /// Gives the vector back now. Nothing happens if there is none.
  void reset() noexcept {
    if (Vector* const vector = detach(); vector != nullptr) pool_->give_back(vector);
  }

  /// Leaves the vector to the caller, who gives it back by hand with Pool::give_back().
  [[nodiscard]] Vector* detach() noexcept { return std::exchange(vector_, nullptr); }

  [[nodiscard]] explicit operator bool() const noexcept { return vector_ != nullptr; }
  [[nodiscard]] Vector* get() const noexcept { return vector_; }
  [[nodiscard]] Vector& operator*() const noexcept { return *vector_; }
  [[nodiscard]] Vector* operator->() const noexcept { return vector_; }

  /// Shape: (kCount,). Requires: a vector is held.
  [[nodiscard]] std::span<Number, kCount> values() const noexcept { return vector_->values(); }

 private:
  friend Pool;
  BasicPooledVector(Vector* vector, Pool& pool) noexcept : vector_(vector), pool_(&pool) {}

  Vector* vector_ = nullptr;
  Pool* pool_ = nullptr;  // means nothing while vector_ is null
};

/// A fixed number of vectors of `kCount` numbers.
/// Threads: any, for everything but construction and destruction. No call waits for another thread.
template <typename Number, std::size_t kCount>
class BasicVectorPool {
 public:
  using Vector = PaddedVector<Number, kCount>;
  using PooledVector = BasicPooledVector<Number, kCount>;

  /// Reserves room for `capacity` vectors; a page is committed when its first vector is taken.
  /// Units: vectors. Fails: capacity() is 0 if asked for 0, for more than IndexPool::kCapacityMax,
  /// or for more than there is memory; such a pool is exhausted from the start.
  explicit BasicVectorPool(std::size_t capacity,
                           VectorContents contents = VectorContents::kUnspecified) noexcept
      : memory_(capacity, sizeof(Vector), alignof(Vector)),
        places_(memory_.links(), memory_.capacity()),
        contents_(contents) {}

  /// Requires: every vector is back; aborts with their number if one is still out, because its
  /// holder would write to memory that is not its own any more.
  ~BasicVectorPool() {
    if (const std::size_t out = taken(); out != 0) [[unlikely]] {
      report_vectors_out(out);
    }
  }
  BasicVectorPool(const BasicVectorPool&) = delete;
  BasicVectorPool& operator=(const BasicVectorPool&) = delete;

  /// Takes one vector, the last given back first. Shape: (kCount,), aligned to a cache line.
  /// Fails: empty if, at a moment during the call, all were taken; counted as exhausted.
  /// Cost:  no lock, no system call but the page faults of a vector never taken before.
  [[nodiscard]] PooledVector take() noexcept {
    const std::uint32_t index = places_.take();
    if (index == IndexPool::kNone) [[unlikely]] {
      return {};
    }
    Vector* const vector = vectors() + index;
    if (contents_ == VectorContents::kZero) std::ranges::fill(vector->values(), Number{0});
    vector->clear_tail();
    return PooledVector(vector, *this);
  }

  /// Gives back a vector detached from its handle; null does nothing.
  /// Fails: a pointer that is no vector of this pool, a vector never taken and one given back twice
  /// are named on standard error, and the process aborts.
  void give_back(Vector* vector) noexcept {
    if (vector == nullptr) return;
    const std::size_t offset_bytes = address_of(vector) - address_of(vectors());
    if (offset_bytes >= capacity() * sizeof(Vector) || offset_bytes % sizeof(Vector) != 0)
        [[unlikely]] {
      report_stray_vector(vector);
    }
    const auto index = static_cast<std::uint32_t>(offset_bytes / sizeof(Vector));
    const GiveBackResult result = places_.give_back(index);
    if (result != GiveBackResult::kDone) [[unlikely]] {
      report_give_back(result, vector);
    }
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return places_.capacity(); }   ///< vectors
  [[nodiscard]] std::size_t taken() const noexcept { return places_.counts().taken; }  ///< vectors

  [[nodiscard]] VectorPoolStatistics statistics() const noexcept {
    VectorPoolStatistics statistics{};
    static_cast<IndexPoolCounts&>(statistics) = places_.counts();
    statistics.capacity = capacity();
    statistics.reserved_bytes = memory_.bytes();
    statistics.touched_bytes = statistics.taken_peak * sizeof(Vector);
    return statistics;
  }

  /// Requires: no other thread uses the pool. Cost: linear in the vectors ever taken.
  [[nodiscard]] bool invariants_hold() const noexcept { return places_.invariants_hold(); }

 private:
  [[nodiscard]] Vector* vectors() const noexcept { return static_cast<Vector*>(memory_.vectors()); }

  PoolMemory memory_;
  IndexPool places_;
  const VectorContents contents_;
};

using VectorPool = BasicVectorPool<float, 225>;
using PooledVector = VectorPool::PooledVector;
}  // namespace drey
