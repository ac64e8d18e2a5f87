// vector_pool_resource.hpp: a vector pool under the C++ library: blocks that fit into a vector come
// from the pool, whatever they are; all others, and those for which the pool has nothing left, come
// from drey's allocator. For containers of nodes (std::list, std::map) and for buffers of one length.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/std_allocator.hpp>
#include <drey/pools/vector_pool.hpp>

#include <cstddef>
#include <memory_resource>
#include <type_traits>

namespace drey {
namespace detail {
/// A block of the pool, or of drey's allocator. Never null.
template <typename Pool>
[[nodiscard]] void* allocate_from(Pool& pool, std::size_t bytes, std::size_t alignment) {
  using Vector = typename Pool::Vector;
  // The values, not the lanes behind them: those stay zero.
  if (bytes <= Pool::kValueCount * sizeof(typename Pool::Number) && alignment <= alignof(Vector)) {
    if (Vector* const vector = pool.take().detach(); vector != nullptr) return vector;
  }
  return allocate_or_throw(bytes, alignment);
}

template <typename Pool>
void deallocate_to(Pool& pool, void* pointer) noexcept {
  if (pool.owns(pointer)) {
    pool.give_back(static_cast<typename Pool::Vector*>(pointer));
  } else {
    drey_free(pointer);
  }
}
}  // namespace detail

/// Threads: any, as the pool. Equal only to itself: another of the same pool may not give back.
/// Requires: the pool outlives what was taken through this. Fails: std::bad_alloc.
template <typename Pool>
class VectorPoolResource final : public std::pmr::memory_resource {
 public:
  explicit VectorPoolResource(Pool& pool) noexcept : pool_(pool) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return detail::allocate_from(pool_, bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    detail::deallocate_to(pool_, pointer);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Pool& pool_;
};

/// Standard allocator on a pool: `std::list<Step, VectorPoolAllocator<Step, VectorPool225>>`.
/// Equal to those of the same pool. Threads, Requires, Fails: as VectorPoolResource.
template <typename T, typename Pool>
class VectorPoolAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  // NOLINTNEXTLINE(google-explicit-constructor): a container is given the pool.
  VectorPoolAllocator(Pool& pool) noexcept : pool_(&pool) {}
  template <typename Other>
  // NOLINTNEXTLINE(google-explicit-constructor): as the standard's requirements ask.
  VectorPoolAllocator(const VectorPoolAllocator<Other, Pool>& other) noexcept
      : pool_(other.pool_) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(T), &bytes)) detail::throw_bad_array_new_length();
    return static_cast<T*>(detail::allocate_from(*pool_, bytes, alignof(T)));
  }
  void deallocate(T* pointer, std::size_t /*count*/) noexcept {
    detail::deallocate_to(*pool_, pointer);
  }

  template <typename Other>
  friend bool operator==(const VectorPoolAllocator& one,
                         const VectorPoolAllocator<Other, Pool>& other) noexcept {
    return one.pool_ == other.pool_;
  }

 private:
  template <typename, typename>
  friend class VectorPoolAllocator;

  Pool* pool_;
};
}  // namespace drey
