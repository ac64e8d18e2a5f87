// pool_memory.hpp: the memory of one pool: its vectors, and beside them what the pool knows of each.
//
// One mapping of zeroed pages, in which the system commits what is touched: the vectors, then for
// each a state of two bytes, then two arrays that most pools never touch: rounds (how often a state
// went through zero) and holders (counts of SharedVector); then the bits of the free places.
// Invariants: capacity() is 0 and nothing is mapped, or there is room for capacity() places;
// opened() <= capacity(), and the backing was told of exactly the opened places' bytes.
// Read next: place_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/pool_options.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey {
/// Most places of one pool: an index of a place has 24 bits.
inline constexpr std::size_t kPlacesMax = (std::size_t{1} << 24) - 2;

/// Units: bytes.
struct PlaceShape {
  std::size_t vector_bytes;     ///< of one vector, zero lanes included
  std::size_t values_bytes;     ///< of those, values
  std::size_t alignment_bytes;  ///< of each vector
};

/// Threads: open_more() one at a time (PlacePool's lock); the rest any.
class PoolMemory {
 public:
  /// Fails: capacity() is 0 if it is asked for 0, for more than kPlacesMax, for more than there is
  /// address space, or if the backing refuses the first piece.
  PoolMemory(const PlaceShape& shape, const VectorPoolOptions& options) noexcept;
  ~PoolMemory();
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;

  /// Opens as many places as there are, or up to capacity(). Fails: false, nothing has changed.
  [[nodiscard]] bool open_more() noexcept;

  [[nodiscard]] const PlaceShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }  ///< places
  [[nodiscard]] std::size_t opened() const noexcept { return opened_; }      ///< places
  [[nodiscard]] std::size_t stride_bytes() const noexcept { return stride_bytes_; }
  [[nodiscard]] std::size_t guard_bytes() const noexcept {
    return stride_bytes_ - shape_.vector_bytes;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  ///< mapped
  [[nodiscard]] bool is_checked() const noexcept { return is_checked_; }

  [[nodiscard]] void* vector(std::uint32_t place) const noexcept {
    return begin_ + place * stride_bytes_;
  }
  /// Returns: kNoPlace's value, at least capacity(), if no vector begins at `vector`.
  [[nodiscard]] std::size_t place_of(const void* vector) const noexcept {
    // For an odd divisor d, multiplying by its inverse modulo 2^64 divides multiples of d exactly and
    // sends everything else above 2^64 / d; the power of two in the stride is rotated out.
    // Source: H. S. Warren, "Hacker's Delight", 2nd ed., section 10-17.
    const auto offset_bytes = static_cast<std::uint64_t>(static_cast<const char*>(vector) - begin_);
    return std::rotr(offset_bytes * stride_inverse_, stride_shift_);
  }

  [[nodiscard]] std::atomic<std::uint16_t>* states() const noexcept { return states_; }
  [[nodiscard]] std::atomic<std::uint16_t>* rounds() const noexcept { return rounds_; }
  [[nodiscard]] std::atomic<std::uint32_t>* holders() const noexcept { return holders_; }
  [[nodiscard]] std::uint64_t* free_words() const noexcept { return free_words_; }
  [[nodiscard]] std::uint64_t* free_summary() const noexcept { return free_summary_; }

 private:
  [[nodiscard]] bool map(std::size_t capacity, VectorPages pages) noexcept;
  [[nodiscard]] bool open_to(std::size_t count) noexcept;
  void unmap() noexcept;

  char* begin_ = nullptr;
  std::size_t stride_bytes_;
  std::uint64_t stride_inverse_;
  int stride_shift_;
  bool is_checked_;
  std::atomic<std::uint16_t>* states_ = nullptr;
  std::atomic<std::uint16_t>* rounds_ = nullptr;
  std::atomic<std::uint32_t>* holders_ = nullptr;
  std::uint64_t* free_words_ = nullptr;    ///< see PlaceList
  std::uint64_t* free_summary_ = nullptr;  ///< the same
  std::size_t capacity_ = 0;
  std::size_t opened_ = 0;
  std::size_t bytes_ = 0;
  PlaceShape shape_;
  VectorBacking backing_;
};
}  // namespace drey
