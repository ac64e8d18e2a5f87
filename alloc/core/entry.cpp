// entry.cpp: the entry points that are more than the fast path. Read next: entry.hpp.
// SPDX-License-Identifier: MIT
#include "core/entry.hpp"

#include "core/large.hpp"
#include "core/misuse.hpp"
#include "core/purge.hpp"
#include "core/resize.hpp"
#include "core/segment_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace drey::core {
namespace {
/// What a block of `usable` bytes moves to that has to grow to `size`. Who grows by less than an
/// eighth will come again: a quarter more at a time copies each byte four times on the way to any
/// length, the classes' own steps eight times and more. Above the classes growth is in place.
[[nodiscard]] std::size_t room_to_grow(std::size_t usable, std::size_t size) noexcept {
  if (size > usable + usable / 8 || size > kMediumSizeMax) return size;
  const std::size_t quarter_more = usable + usable / 4;
  return std::clamp(quarter_more, size, kMediumSizeMax);
}

/// allocate_zeroed() above the small sizes; apart, so that the small ones need no stack frame.
[[gnu::noinline]] void* allocate_more_zeroed(std::size_t size) noexcept {
  if (size <= kMediumSizeMax) {
    const SizeClass size_class = medium_class_of(size);
    FreshBlock block{take_hit(size_class), false};
    if (block.pointer == nullptr) block = refill_zeroed(size_class);
    if (block.pointer == nullptr || block.zero) return block.pointer;
    return std::memset(block.pointer, 0, size_of(size_class));
  }
  if (size > kSizeMax) return nullptr;
  const LargeBlock block = take_large(size, kMinAlignmentBytes);
  if (block.pointer == nullptr || block.zero) return block.pointer;
  return zero_large(block.pointer, good_large_size(size));
}
}  // namespace

void* allocate_zeroed(std::size_t size) noexcept {
  if constexpr (kSecure) return take(size);  // a secure build's blocks are always zero
  if (size > kSmallSizeMax) return allocate_more_zeroed(size);
  // The whole block, so that what malloc_usable_size() tells of is zero too.
  const SizeClass size_class = small_class_of(size == 0 ? 1 : size);
  void* const block = take_class(size_class);
  return block == nullptr ? nullptr : zero_small(block, size_of(size_class));
}

void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
  DREY_ASSERT(is_power_of_two(alignment));
  if constexpr (kSecure) return take_aligned_checked(alignment, size);
  if (size > kSizeMax || alignment > kSizeMax) return nullptr;
  if (alignment <= kMinAlignmentBytes) return take(size);
  const std::size_t rounded = align_up(size == 0 ? 1 : size, alignment);
  // Blocks of a multiple of the alignment, in slabs that start on it.
  if (rounded <= kSmallSizeMax) [[likely]]
    return take_class(small_class_of(rounded));
  const SizeClass size_class = aligned_class_of(size == 0 ? 1 : size, alignment);
  if (size_class != SizeClass{0}) return take_class(size_class);
  return take_large(size, alignment).pointer;
}

void* reallocate(void* pointer, std::size_t size) noexcept {
  if constexpr (kSecure) return reallocate_checked(pointer, size);
  Slab* const slab = slab_map.find(pointer);
  if (slab == nullptr) return reallocate_foreign(pointer, size);
  const ResizePlan plan = resize_without_copy(slab, pointer, size);
  if (plan.done) return plan.pointer;
  void* const moved =
      size > plan.usable ? take_growing(room_to_grow(plan.usable, size)) : take(size);
  if (moved == nullptr) return size <= plan.usable ? pointer : nullptr;
  std::memcpy(moved, pointer, size < plan.usable ? size : plan.usable);
  give_back(pointer);
  return moved;
}

std::size_t usable_bytes(const void* pointer) noexcept {
  if (pointer == nullptr) return 0;
  if constexpr (kSecure) return usable_bytes_checked(pointer);
  const Slab* const slab = slab_map.find(pointer);
  return is_block(slab, pointer) ? usable_bytes_of(slab) : 0;
}

std::size_t good_size(std::size_t size) noexcept {
  if (size > kSizeMax) return size;
  if (size > kMediumSizeMax) return good_large_size(size);
  if constexpr (kSecure) return size;  // exactly what is asked for
  return size_of(class_of(size == 0 ? 1 : size));
}

bool owns(const void* pointer) noexcept {
  if constexpr (kSecure) return owns_checked(pointer);
  return is_block(slab_map.find(pointer), pointer);
}

void collect() noexcept {
  Heap* const heap = this_heap;
  if (heap->state.load(std::memory_order_relaxed) == HeapState::kOwned) {
    const BusyScope busy_scope(*heap);
    heap->outbox.flush();
    heap->serve_announcements();
    heap->release_empty_slabs();
  }
  collect_orphans();
  purge_all();
}
}  // namespace drey::core
