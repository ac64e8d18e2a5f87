// fixed.hpp: blocks whose size is known when the program is compiled: the hit is inlined.
//
// allocate_fixed<900>() is drey_malloc(900), and deallocate_fixed<900>(p) is drey_free(p), in eight
// and sixteen instructions of the caller's own (tests/golden/surfaces.golden counts them); all that
// is no hit is a call of those functions. Both kinds of blocks are the same and may be mixed.
// Only where drey is linked statically (drey::alloc, drey::override; CMake and pkg-config then
// define DREY_STATIC_HIT=1): the hit uses the allocator's thread-local pointer, which is hidden in
// libdrey.so so that a preloaded library of another version cannot be misread. There, and in builds
// that check every free (DREY_SECURE), both functions are plain calls.
// The layout that is inlined has a number, in a symbol that the library must define
// (drey_inline_abi_1): a header and a library that differ do not link.
// Read next: alloc/core/fast_path.hpp and alloc/core/inline_abi.cpp in the sources.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc.h>

#include <cstddef>
#include <cstdint>

#if defined(DREY_STATIC_HIT) && DREY_STATIC_HIT
#include <drey/base/relaxed.hpp>

#include <atomic>

extern "C" [[gnu::visibility("hidden")]] const char drey_inline_abi_1;

namespace drey::core {
struct Heap;
struct SlabMap;
[[gnu::visibility("hidden"),
  gnu::tls_model("initial-exec")]] extern constinit thread_local Heap* this_heap;
[[gnu::visibility("hidden")]] extern SlabMap slab_map;
}  // namespace drey::core

namespace drey::detail {
inline constexpr bool kHitIsInline = true;
/// Makes every program that includes this header need the symbol.
[[gnu::used]] inline const char* const inline_abi = &drey_inline_abi_1;

// What the hit sees of the core's Block, Slab, Heap and SlabMap; inline_abi.cpp compares each field.
// may_alias: a caller's own objects lie where the links are before and after.
struct [[gnu::may_alias]] HotBlock {
  HotBlock* next;
};
struct [[gnu::may_alias]] HotSlab {
  HotBlock* free;
  std::uint32_t countdown;
  alignas(64) std::atomic<core::Heap*> owner;
};
struct [[gnu::may_alias]] HotHeap {
  HotSlab* current[145];
};
struct [[gnu::may_alias]] HotMap {
  std::atomic<const std::atomic<std::uintptr_t>*> flat_base;
  std::atomic<std::size_t> flat_mask;
};

/// Largest size that has a class.
inline constexpr std::size_t kFixedSizeMax = std::size_t{1} << 20;

/// Index of a size's class: steps of 16 bytes to 1 KiB, then eight an octave.
[[nodiscard]] constexpr std::size_t class_index_of(std::size_t size) noexcept {
  if (size <= 1024) return size == 0 ? 1 : (size + 15) / 16;
  std::size_t octave = 10;
  while ((size - 1) >> (octave + 1) != 0) ++octave;
  return 65 + (octave - 10) * 8 + ((size - 1) >> (octave - 3)) - 8;
}

/// The hit of core's take_hit_from(). Returns: null where it is none.
template <std::size_t Index>
[[nodiscard, gnu::always_inline]] inline void* take_fixed_hit() noexcept {
  HotSlab* const slab = reinterpret_cast<HotHeap*>(core::this_heap)->current[Index];
  HotBlock* const block = slab->free;
  if (block == nullptr) [[unlikely]]
    return nullptr;
  slab->free = block->next;
  return block;
}

/// The hit of core's give_back(). Returns: false where it is none; nothing has changed then.
[[nodiscard, gnu::always_inline]] inline bool give_back_hit(void* pointer) noexcept {
  const auto* const map = reinterpret_cast<const HotMap*>(&core::slab_map);
  // Acquire: pairs with the release in SlabMap::open(); before, the base leads to static zeros.
  const std::size_t slice =
      and_acquire(reinterpret_cast<std::uintptr_t>(pointer) >> 16, map->flat_mask);
  const std::atomic<std::uintptr_t>* const base = load_relaxed(map->flat_base);
  auto* const slab =
      reinterpret_cast<HotSlab*>(add_relaxed(reinterpret_cast<std::uintptr_t>(base), base[slice]));
  // Relaxed: only this thread can have made it this_heap, or unmake it.
  if (slab->owner.load(std::memory_order_relaxed) != core::this_heap) [[unlikely]]
    return false;
  auto* const block = static_cast<HotBlock*>(pointer);
  HotBlock* const head = slab->free;
  // A double free in a row is reported, and a countdown served, by drey_free().
  if (block == head || slab->countdown == 1) [[unlikely]]
    return false;
  block->next = head;
  slab->free = block;
  slab->countdown -= 1;
  return true;
}
}  // namespace drey::detail
#else
namespace drey::detail {
inline constexpr bool kHitIsInline = false;
inline constexpr std::size_t kFixedSizeMax = 0;
[[nodiscard]] constexpr std::size_t class_index_of(std::size_t /*size*/) noexcept {
  return 0;
}
template <std::size_t Index>
[[nodiscard]] inline void* take_fixed_hit() noexcept {
  return nullptr;
}
[[nodiscard]] inline bool give_back_hit(void* /*pointer*/) noexcept {
  return false;
}
}  // namespace drey::detail
#endif

namespace drey {
/// Takes a block of at least Size bytes, 16-aligned. Fails: null, errno = ENOMEM. Threads: any.
template <std::size_t Size>
[[nodiscard, gnu::always_inline]] inline void* allocate_fixed() noexcept {
  if constexpr (detail::kHitIsInline && Size <= detail::kFixedSizeMax) {
    void* const block = detail::take_fixed_hit<detail::class_index_of(Size)>();
    if (block != nullptr) [[likely]]
      return block;
  }
  return drey_malloc(Size);
}

/// Gives back a block that was asked for with Size bytes; null does nothing. Threads: any.
template <std::size_t Size>
[[gnu::always_inline]] inline void deallocate_fixed(void* pointer) noexcept {
  if constexpr (detail::kHitIsInline && Size <= detail::kFixedSizeMax) {
    if (detail::give_back_hit(pointer)) [[likely]]
      return;
  }
  drey_free(pointer);
}
}  // namespace drey
