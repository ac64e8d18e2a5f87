// private_blocks.cpp: blocks of a private heap: taken, resized, given back, counted, visited.
// Read next: private_heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/bitmap.hpp"
#include "core/entry.hpp"
#include "core/misuse.hpp"
#include "core/private_heap.hpp"
#include "core/resize.hpp"

#include <cerrno>
#include <cstring>

namespace drey::core {
namespace {
/// More blocks than any slab has.
constexpr std::size_t kBlocksMax = kSliceBytes / kMinAlignmentBytes;
static_assert(kMediumSlabSlices * kSliceBytes / kSmallSizeMax <= kBlocksMax);
using BlockSet = Bitmap<kBlocksMax>;

[[nodiscard, gnu::noinline]] void* fail() noexcept {
  errno = ENOMEM;
  return nullptr;
}

[[nodiscard, gnu::noinline]] FreshBlock refill_private(PrivateHeap& heap,
                                                       SizeClass size_class) noexcept {
  FreshBlock block;
  // Class 0 has no slabs: a request of 0 bytes gets the smallest block.
  if (size_class == SizeClass{0}) size_class = SizeClass{1};
  if (may_use(heap)) block = refill_held(heap, size_class);
  if (block.pointer == nullptr) errno = ENOMEM;
  return block;
}

/// The same for callers that end with it: a jump, so the hit needs no stack frame.
[[nodiscard, gnu::noinline]] void* take_slowly(PrivateHeap& heap, SizeClass size_class) noexcept {
  return refill_private(heap, size_class).pointer;
}

[[nodiscard, gnu::always_inline]] inline void* take_class_private(PrivateHeap& heap,
                                                                  SizeClass size_class) noexcept {
  void* const block = take_hit_from(heap, size_class);
  if (block == nullptr) [[unlikely]]
    return take_slowly(heap, size_class);
  return block;
}

/// Large and huge blocks, and sizes beyond all limits.
[[nodiscard, gnu::noinline]] LargeBlock take_large_private(PrivateHeap& heap, std::size_t size,
                                                           std::size_t alignment) noexcept {
  LargeBlock block;
  if (may_use(heap) && size <= kSizeMax) block = take_large(size, alignment);
  if (block.pointer == nullptr) {
    errno = ENOMEM;
  } else {
    hold_large(heap, slab_map.find(block.pointer));
  }
  return block;
}

void add_list(const Slab& slab, const Block* block, BlockSet& seen) noexcept {
  for (; block != nullptr; block = next_of(block)) {
    const std::uintptr_t offset = address_of(block) - address_of(slab.start);
    seen.set_range(offset / slab.block_bytes, 1);
  }
}

/// Blocks of a slab that nobody has: in its list, or on their way back.
void find_free(const Slab& slab, BlockSet& free_blocks) noexcept {
  add_list(slab, slab.free, free_blocks);
  // Acquire: the links of the chain; pairs with the release in hand_over().
  const std::uintptr_t word = slab.remote.load(std::memory_order_acquire);
  std::uint32_t left = slab.capacity;  // a damaged chain may have no end
  visit_parcels(slab, reinterpret_cast<const Block*>(word & ~Slab::kAnnounced), [&](auto* block) {
    free_blocks.set_range((address_of(block) - address_of(slab.start)) / slab.block_bytes, 1);
    return --left != 0;
  });
}

bool walk_slab(const Slab& slab, BlockVisitor visitor, void* context) noexcept {
  BlockSet free_blocks;
  find_free(slab, free_blocks);
  for (std::size_t index = 0; index < slab.carved; ++index) {
    if (free_blocks.test(index)) continue;
    std::byte* const block = slab.start + index * slab.block_bytes;
    if (!visitor(block, slab.block_bytes, context)) return false;
  }
  return true;
}
}  // namespace

void* take_private(PrivateHeap& heap, std::size_t size) noexcept {
  if (size <= kSmallSizeMax) [[likely]]
    return take_class_private(heap, small_class_of(size));
  if (size <= kMediumSizeMax) return take_class_private(heap, medium_class_of(size));
  return take_large_private(heap, size, kMinAlignmentBytes).pointer;
}

void* take_private_zeroed(PrivateHeap& heap, std::size_t size) noexcept {
  if (size <= kMediumSizeMax) {
    const SizeClass size_class = class_of(size == 0 ? 1 : size);
    FreshBlock block{take_hit_from(heap, size_class), false};
    if (block.pointer == nullptr) block = refill_private(heap, size_class);
    if (block.pointer == nullptr || block.zero) return block.pointer;
    return std::memset(block.pointer, 0, size_of(size_class));
  }
  const LargeBlock block = take_large_private(heap, size, kMinAlignmentBytes);
  if (block.pointer == nullptr || block.zero) return block.pointer;
  return std::memset(block.pointer, 0, good_large_size(size));
}

void* take_private_aligned(PrivateHeap& heap, std::size_t alignment, std::size_t size) noexcept {
  DREY_ASSERT(is_power_of_two(alignment));
  if (alignment <= kMinAlignmentBytes) return take_private(heap, size);
  const SizeClass size_class = aligned_class_of(size == 0 ? 1 : size, alignment);
  if (size_class != SizeClass{0}) return take_class_private(heap, size_class);
  return take_large_private(heap, size, alignment).pointer;
}

void* resize_private(PrivateHeap& heap, void* pointer, std::size_t size) noexcept {
  const ResizePlan plan = resize_without_copy(slab_map.find(pointer), pointer, size);
  if (plan.done) return plan.pointer != nullptr ? plan.pointer : fail();
  void* const moved = take_private(heap, size);
  if (moved == nullptr) return size <= plan.usable ? pointer : nullptr;
  std::memcpy(moved, pointer, size < plan.usable ? size : plan.usable);
  give_back_private(heap, pointer);
  return moved;
}

void give_back_private(PrivateHeap& heap, void* pointer) noexcept {
  Slab* const slab = slab_map.find_unchecked(pointer);
  // Relaxed: a slab of this heap never changes its owner; the caller holds the heap.
  if (slab->owner.load(std::memory_order_relaxed) != &heap || slab->is_large_or_huge())
      [[unlikely]] {
    return give_back(pointer);
  }
  give_back_own(slab, pointer);
}

bool is_of_private(const PrivateHeap& heap, const void* pointer) noexcept {
  const Slab* const slab = slab_map.find(pointer);
  return is_block(slab, pointer) && slab->owner.load(std::memory_order_relaxed) == &heap;
}

PrivateHeapCounts count_private(PrivateHeap& heap) noexcept {
  PrivateHeapCounts counts{};
  if (!may_use(heap)) return counts;
  {
    const BusyScope busy_scope(heap);
    heap.serve_announcements();
  }
  for (const Slab* slab = heap.slabs; slab != nullptr; slab = slab->next_held) {
    ++counts.slab_count;
    counts.slab_bytes += slab->slice_count * kSliceBytes;
    const std::size_t live = slab->live();
    counts.live_blocks += live;
    counts.live_bytes += live * slab->block_bytes;
  }
  const os::LockHolder hold(private_heap_lock());
  for (const Slab* slab = heap.large; slab != nullptr; slab = slab->next_held) {
    ++counts.large_count;
    counts.large_bytes += slab->run_bytes;
  }
  counts.live_blocks += counts.large_count;
  counts.live_bytes += counts.large_bytes;
  return counts;
}

bool walk_private(PrivateHeap& heap, BlockVisitor visitor, void* context) noexcept {
  if (!may_use(heap)) return true;
  for (const Slab* slab = heap.slabs; slab != nullptr; slab = slab->next_held) {
    if (!walk_slab(*slab, visitor, context)) return false;
  }
  // Not under the lock, which the visitor may need for blocks of other heaps.
  for (const Slab* slab = heap.large; slab != nullptr; slab = slab->next_held) {
    if (!visitor(slab->start, slab->run_bytes, context)) return false;
  }
  return true;
}
}  // namespace drey::core
