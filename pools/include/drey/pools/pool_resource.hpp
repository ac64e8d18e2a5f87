// pool_resource.hpp: standard containers over a pool of equal blocks: nodes of lists, maps and sets,
// control blocks of allocate_shared.
//
// What fits a block comes from the pool while there is one free; the rest comes from drey's heap.
// Containers allocate nodes of types of their own, which a pool of one type could not serve: so the
// pool is one of bytes, BlockPool; ask the container for its node's size by trying, or be generous.
// Threads: as the pool: one at a time. The pool outlives what uses it.
// Read next: block_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/memory_resource.hpp>
#include <drey/pools/block_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <type_traits>

namespace drey {
namespace detail {
/// A block of the pool, or null where it does not fit or none is free.
[[nodiscard]] inline void* take_fitting(BlockPool& pool, std::size_t bytes,
                                        std::size_t alignment) noexcept {
  return bytes <= pool.block_bytes() && alignment <= pool.alignment() ? pool.take() : nullptr;
}

/// A block for a container: of the pool, or of the heap, where null is std::bad_alloc.
[[nodiscard]] inline void* allocate_from(BlockPool& pool, std::size_t bytes,
                                         std::size_t alignment) {
  void* const block = take_fitting(pool, bytes, alignment);
  return block != nullptr ? block : allocate_or_throw(bytes, alignment);
}

/// Where it came from is asked of the pool only for what could have come from there.
inline void deallocate_to(BlockPool& pool, void* pointer, std::size_t bytes) noexcept {
  if (bytes <= pool.block_bytes() && pool.owns(pointer)) {
    pool.give_back(pointer);
  } else {
    drey_free(pointer);
  }
}
}  // namespace detail

/// Equal to another of the same pool.
class PoolResource final : public std::pmr::memory_resource {
 public:
  explicit PoolResource(BlockPool& pool) noexcept : pool_(&pool) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return detail::allocate_from(*pool_, bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t /*alignment*/) override {
    detail::deallocate_to(*pool_, pointer, bytes);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const PoolResource* const same_kind = detail::as_resource(other, *this);
    return same_kind != nullptr && same_kind->pool_ == pool_;
  }

  BlockPool* pool_;
};

/// The same as a std::allocator, without virtual calls.
template <typename T>
class PoolAllocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  PoolAllocator(BlockPool& pool) noexcept : pool_(&pool) {}  // NOLINT: as polymorphic_allocator
  template <typename U>
  PoolAllocator(const PoolAllocator<U>& other) noexcept : pool_(&other.pool()) {}  // NOLINT

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
      detail::throw_bad_array_new_length();
    return static_cast<T*>(detail::allocate_from(*pool_, count * sizeof(T), alignof(T)));
  }
  void deallocate(T* pointer, std::size_t count) noexcept {
    detail::deallocate_to(*pool_, pointer, count * sizeof(T));
  }

  [[nodiscard]] BlockPool& pool() const noexcept { return *pool_; }

  template <typename U>
  bool operator==(const PoolAllocator<U>& other) const noexcept {
    return pool_ == &other.pool();
  }

 private:
  BlockPool* pool_;
};
}  // namespace drey
