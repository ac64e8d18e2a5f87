// vector_pool.hpp: hands out vectors of 225 floats, one observation each; or of any type and length.
//
// The vectors lie in one range of memory, padded to cache lines or packed (vector225.hpp). Any thread
// may take, any may give back; each thread keeps some free vectors, of which nothing is lost: they
// go back when the thread ends, and are taken from it when the pool has no others.
// Invariants: no two taken vectors overlap; addresses never change; the lanes behind the values of a
// padded vector are zero; a pool is exhausted only when every vector is out.
// Read next: pooled_vector.hpp, shared_vector.hpp, vector_batch.hpp; place_pool.hpp for the inside.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/pools/place_pool.hpp>
#include <drey/pools/pool_memory.hpp>
#include <drey/pools/pool_options.hpp>
#include <drey/pools/pooled_vector.hpp>
#include <drey/pools/shared_vector.hpp>
#include <drey/pools/vector225.hpp>
#include <drey/pools/vector_batch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drey {
/// Says on standard error how many values a vector takes and how many there were.
[[gnu::cold]] void report_wrong_length(std::size_t expected, std::size_t found) noexcept;

/// A pool of PaddedVector or PackedVector; VectorPool and PackedVectorPool below.
/// Threads: any, for everything but construction and destruction.
template <typename VectorType>
class BasicVectorPool {
 public:
  using Vector = VectorType;
  using Number = typename Vector::Number;
  using PooledVector = BasicPooledVector<Vector>;
  using SharedVector = BasicSharedVector<Vector>;
  using VectorBatch = BasicVectorBatch<Vector>;
  static constexpr std::size_t kValueCount = Vector::kValueCount;
  static_assert(kValueCount * sizeof(Number) >= 16, "shorter ones are numbers, not vectors");

  /// A fixed number of vectors; memory is committed when a vector is first written to.
  /// Units: vectors. Fails: capacity() is 0 if asked for 0, for more than kPlacesMax, or for more
  /// than there is address space; such a pool is exhausted from the start.
  explicit BasicVectorPool(std::size_t capacity,
                           VectorContents contents = VectorContents::kUnspecified) noexcept
      : BasicVectorPool(VectorPoolOptions{.capacity = capacity, .contents = contents}) {}
  explicit BasicVectorPool(const VectorPoolOptions& options) noexcept
      : memory_({sizeof(Vector), kValueCount * sizeof(Number), alignof(Vector)}, options),
        places_(memory_),
        contents_(options.contents) {}

  /// Requires: every vector is back; aborts with their number if one is still out, because its
  /// holder would write to memory that is not its own any more. Threads that keep free vectors need
  /// not have ended.
  ~BasicVectorPool() = default;
  BasicVectorPool(const BasicVectorPool&) = delete;
  BasicVectorPool& operator=(const BasicVectorPool&) = delete;

  /// Takes one vector, the thread's last given back first. Shape: (kValueCount,).
  /// Fails: empty if, at a moment during the call, all were taken; counted as exhausted.
  [[nodiscard, gnu::always_inline]] PooledVector take() noexcept {
    const TakenPlace taken = places_.take();
    if (taken.place == kNoPlace) [[unlikely]] {
      return {};
    }
    Vector* const taken_vector = vector(taken.place);
    if (contents_ == VectorContents::kZero) clear(*taken_vector);
    return PooledVector(taken_vector, *this, taken);
  }

  /// As take(), with a copy of the values. A span of fixed length must have kValueCount, else the
  /// call does not compile; of one of dynamic length the length is checked.
  /// Fails: empty if exhausted; empty, and both lengths are named on standard error, if there are
  /// more or fewer values.
  [[nodiscard]] PooledVector take_copy(std::span<const Number, kValueCount> values) noexcept {
    PooledVector vector = take();
    if (vector) std::ranges::copy(values, vector.values().begin());
    return vector;
  }
  template <typename Source, std::size_t kLength>
  [[nodiscard]] PooledVector take_copy(std::span<Source, kLength> values) noexcept
      requires(kLength == std::dynamic_extent &&
               std::is_convertible_v<std::span<Source>, std::span<const Number>>) {
    if (values.size() != kValueCount) {
      report_wrong_length(kValueCount, values.size());
      return {};
    }
    return take_copy(std::span<const Number, kValueCount>(values.data(), kValueCount));
  }

  /// Takes up to `count` vectors at once, at most VectorBatch::kRoom.
  /// Fails: fewer if the pool is exhausted; each one missing is counted.
  [[nodiscard]] VectorBatch take_batch(std::size_t count) noexcept {
    VectorBatch batch;
    batch.pool_ = this;
    batch.count_ = places_.take_batch(batch.places_, std::min(count, VectorBatch::kRoom));
    if (contents_ == VectorContents::kZero) {
      for (std::size_t index = 0; index < batch.count_; ++index) clear(batch[index]);
    }
    return batch;
  }

  /// Gives back a vector detached from its handle; null does nothing.
  /// Fails: a pointer that is no vector of this pool, a vector never taken and one given back twice,
  /// also by two threads at once, are named on standard error, and the process aborts.
  void give_back(Vector* vector) noexcept {
    if (vector != nullptr) places_.give_back_vector(vector);
  }

  /// The vector that `ref` names. Returns: null if it has been given back since, or is another
  /// pool's (of 256 pools made one after the other, each knows its own).
  /// Threads: any; but only who knows that a holder keeps the vector may use it.
  [[nodiscard]] Vector* find(VectorRef ref) const noexcept {
    return places_.is_held(ref) ? vector(ref.place()) : nullptr;
  }

  /// True for addresses of this pool's vectors, taken or not.
  [[nodiscard]] bool owns(const void* address) const noexcept {
    return memory_.place_of(address) < capacity();
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.capacity(); }  ///< vectors
  [[nodiscard]] std::size_t stride_bytes() const noexcept { return memory_.stride_bytes(); }
  [[nodiscard]] bool is_checked() const noexcept { return places_.is_checked(); }

  /// Cost: linear in the vectors ever taken.
  [[nodiscard]] VectorPoolStatistics statistics() noexcept { return places_.statistics(); }
  [[nodiscard]] std::size_t taken() noexcept { return statistics().taken; }  ///< vectors

  /// A line to standard error for each vector that is out, at most `count_max`; in a checked pool with
  /// where it was taken.
  void report_taken(std::size_t count_max = 16) noexcept { places_.report_taken(count_max); }

  /// Requires: no other thread uses the pool. Cost: as statistics().
  [[nodiscard]] bool invariants_hold() noexcept { return places_.invariants_hold(); }

 private:
  friend PooledVector;
  friend SharedVector;
  friend VectorBatch;

  [[nodiscard]] Vector* vector(std::uint32_t place) const noexcept {
    return static_cast<Vector*>(memory_.vector(place));
  }
  [[nodiscard]] VectorRef ref_to(std::uint32_t place) const noexcept {
    return VectorRef(place, places_.tag(), places_.generation(place));
  }
  [[nodiscard]] PooledVector adopt(std::uint32_t place) noexcept {
    const auto before = static_cast<std::uint16_t>(places_.generation(place) - 1);
    return PooledVector(vector(place), *this, {place, before});
  }
  static void clear(Vector& vector) noexcept { std::ranges::fill(vector.values(), Number{0}); }

  PoolMemory memory_;
  PlacePool places_;
  const VectorContents contents_;
};

/// Each vector on its own cache lines, with zero lanes behind the values.
template <typename Number = float, std::size_t kCount = 225>
using VectorPool = BasicVectorPool<PaddedVector<Number, kCount>>;
/// The values alone, side by side: for storage.
template <typename Number = float, std::size_t kCount = 225>
using PackedVectorPool = BasicVectorPool<PackedVector<Number, kCount>>;

using VectorPool225 = VectorPool<float, 225>;
using PackedVectorPool225 = PackedVectorPool<float, 225>;
using PooledVector = VectorPool225::PooledVector;
using SharedVector = VectorPool225::SharedVector;
using VectorBatch = VectorPool225::VectorBatch;
}  // namespace drey
