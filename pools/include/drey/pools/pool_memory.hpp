// pool_memory.hpp: the memory of one pool, and what is said when it is misused.
//
// Invariants: both arrays have room for capacity() places or capacity() is 0 and both are null;
// neither is written here, so the system commits a page when its first vector is taken.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/index_pool.hpp>

#include <cstddef>

namespace drey {
/// Owns room for vectors and their links. Threads: one at a time, as any owner.
class PoolMemory {
 public:
  /// Units: `vector_bytes` a place, a multiple of `alignment`.
  /// Fails: capacity() is 0 if `capacity` is 0 or above IndexPool::kCapacityMax, if the product
  /// overflows, or if the system has no memory.
  PoolMemory(std::size_t capacity, std::size_t vector_bytes, std::size_t alignment) noexcept;
  ~PoolMemory();
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;

  [[nodiscard]] void* vectors() const noexcept { return vectors_; }
  [[nodiscard]] IndexPool::Link* links() const noexcept { return links_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }  ///< places
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }        ///< of both arrays

 private:
  void* vectors_ = nullptr;
  IndexPool::Link* links_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
};

/// Say what is wrong with a vector given back, or with the end of a pool, and abort.
[[noreturn, gnu::cold]] void report_stray_vector(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_give_back(GiveBackResult result, const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_vectors_out(std::size_t taken) noexcept;
}  // namespace drey
