// resize.cpp: the rarer forms of realloc and calloc: one keeps an alignment, one never moves.
// Read next: entry.hpp; large.hpp for what happens to large blocks.
// SPDX-License-Identifier: MIT
#include "core/resize.hpp"

#include <cstring>

namespace drey::core {
void* reallocate_aligned(void* pointer, std::size_t alignment, std::size_t size) noexcept {
  DREY_ASSERT(is_power_of_two(alignment));
  if (alignment <= kMinAlignmentBytes) return reallocate(pointer, size);
  Slab* const slab = slab_map.find(pointer);
  if (!is_block(slab, pointer)) {
    report_misuse("realloc of invalid pointer", pointer);
    return nullptr;
  }
  const std::size_t usable = kSecure ? usable_bytes(pointer) : usable_bytes_of(slab);
  // Where a mapping moves to is aligned to a slice, no more.
  const bool stays_aligned =
      is_aligned(pointer, alignment) && (alignment <= kSliceBytes || slab->segment != nullptr);
  if (stays_aligned && !kSecure) {
    const ResizePlan plan = resize_without_copy(slab, pointer, size);
    if (plan.done) return plan.pointer;
  }
  void* const moved = allocate_aligned(alignment, size);
  if (moved == nullptr) {
    return size <= usable && is_aligned(pointer, alignment) ? pointer : nullptr;
  }
  std::memcpy(moved, pointer, size < usable ? size : usable);
  give_back(pointer);
  return moved;
}

bool expand(void* pointer, std::size_t size) noexcept {
  if constexpr (kSecure) return size <= usable_bytes(pointer);  // what is behind it is watched
  Slab* const slab = slab_map.find(pointer);
  if (!is_block(slab, pointer)) {
    report_misuse("expand of invalid pointer", pointer);
    return false;
  }
  if (size <= usable_bytes_of(slab)) return true;
  return size <= kSizeMax && slab->is_large_or_huge() && extend_large(slab, size);
}

void* allocate_aligned_zeroed(std::size_t alignment, std::size_t size) noexcept {
  if constexpr (kSecure) return allocate_aligned(alignment, size);  // always zero
  if (alignment <= kMinAlignmentBytes) return allocate_zeroed(size);
  if (size > kSizeMax || alignment > kSizeMax) return nullptr;
  const SizeClass size_class = aligned_class_of(size == 0 ? 1 : size, alignment);
  if (size_class == SizeClass{0}) {
    const LargeBlock block = take_large(size, alignment);
    if (block.pointer == nullptr || block.zero) return block.pointer;
    return zero_large(block.pointer, good_large_size(size == 0 ? 1 : size));
  }
  void* const block = take_class(size_class);
  return block == nullptr ? nullptr : std::memset(block, 0, size_of(size_class));
}
}  // namespace drey::core
