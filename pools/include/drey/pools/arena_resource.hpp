// arena_resource.hpp: standard containers in an arena: std::pmr and std::allocator, for Arena,
// SharedArena, SharedArenaSlice and FrameArena.
//
// Contract: as std::pmr::memory_resource and the Allocator requirements: std::bad_alloc where the
// arena gives null. Giving back does nothing: that is for the arena's rewind(), reset() or frame;
// a container must not be used after it, and need not be destroyed before.
// Threads: as the arena. The arena outlives what uses it.
// Read next: arena.hpp, pool_resource.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/memory_resource.hpp>
#include <drey/pools/arena.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/shared_arena.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <type_traits>

namespace drey {
/// Equal to another of the same arena.
template <typename AnyArena>
class BasicArenaResource final : public std::pmr::memory_resource {
 public:
  explicit BasicArenaResource(AnyArena& arena) noexcept : arena_(&arena) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const piece = arena_->allocate(bytes, alignment);
    if (piece == nullptr) detail::throw_bad_alloc();
    return piece;
  }
  void do_deallocate(void* /*pointer*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const BasicArenaResource* const same_kind = detail::as_resource(other, *this);
    return same_kind != nullptr && same_kind->arena_ == arena_;
  }

  AnyArena* arena_;
};

using ArenaResource = BasicArenaResource<Arena>;
using SharedArenaResource = BasicArenaResource<SharedArena>;
using FrameArenaResource = BasicArenaResource<FrameArena>;

/// The same as a std::allocator, without virtual calls.
template <typename T, typename AnyArena>
class BasicArenaAllocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  /// An arena is where an allocator comes from: as with polymorphic_allocator, no `explicit`.
  BasicArenaAllocator(AnyArena& arena) noexcept : arena_(&arena) {}  // NOLINT
  template <typename U>
  BasicArenaAllocator(const BasicArenaAllocator<U, AnyArena>& other) noexcept  // NOLINT
      : arena_(&other.arena()) {}

  /// Memory for `count` objects, aligned for T.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T))
      detail::throw_bad_array_new_length();
    void* const piece = arena_->allocate(count * sizeof(T), alignof(T));
    if (piece == nullptr) detail::throw_bad_alloc();
    return static_cast<T*>(piece);
  }
  void deallocate(T* /*pointer*/, std::size_t /*count*/) noexcept {}

  [[nodiscard]] AnyArena& arena() const noexcept { return *arena_; }

  template <typename U>
  bool operator==(const BasicArenaAllocator<U, AnyArena>& other) const noexcept {
    return arena_ == &other.arena();
  }

 private:
  AnyArena* arena_;
};

template <typename T>
using ArenaAllocator = BasicArenaAllocator<T, Arena>;
template <typename T>
using SharedArenaAllocator = BasicArenaAllocator<T, SharedArena>;
template <typename T>
using FrameArenaAllocator = BasicArenaAllocator<T, FrameArena>;
}  // namespace drey
