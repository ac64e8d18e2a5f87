// empty_blocks.cpp: see empty_blocks.hpp.
// SPDX-License-Identifier: MIT
#include "core/empty_blocks.hpp"

#include "core/metadata.hpp"
#include "core/segment_store.hpp"
#include "core/slab_map.hpp"
#include "os/os.hpp"

namespace drey::core {
namespace {
constexpr std::uint32_t kBlocksOfSlice = kSliceBytes / kMinAlignmentBytes;
/// What the entry of a held block says.
constexpr std::uint16_t kHeld = 2;

/// Slices of empty blocks, newest first, linked by `next_held`. Under the store's lock.
constinit Slab* slices = nullptr;

/// The next block that nobody holds. Requires: the lock. Fails: null.
[[nodiscard]] void* take_from(Slab* slab) noexcept {
  if (slab->countdown == 0) return nullptr;
  for (;;) {
    const std::uint32_t index = slab->carved++ % kBlocksOfSlice;
    if (slab->entries[index].load(std::memory_order_relaxed) == kHeld) continue;
    slab->entries[index].store(kHeld, std::memory_order_relaxed);
    --slab->countdown;
    return slab->start + index * kMinAlignmentBytes;
  }
}

[[nodiscard]] void* take_from_any() noexcept {
  const os::LockHolder hold(segment_store.lock());
  for (Slab* slab = slices; slab != nullptr; slab = slab->next_held) {
    void* const block = take_from(slab);
    if (block != nullptr) return block;
  }
  return nullptr;
}

/// Adds a slice. Fails: false.
[[nodiscard]] bool add_slice() noexcept {
  auto* const entries = static_cast<BlockEntry*>(
      take_metadata(kBlocksOfSlice * sizeof(BlockEntry), alignof(BlockEntry)));
  Slab* const slab = entries == nullptr ? nullptr : segment_store.take_huge_descriptor();
  if (slab == nullptr) return false;
  auto* const start = static_cast<std::byte*>(os::reserve(kSliceBytes, kSliceBytes));
  if (start == nullptr || !segment_store.make_map_writable(start, kSliceBytes)) {
    if (start != nullptr) os::unmap(start, kSliceBytes);
    segment_store.give_back_huge_descriptor(slab);
    return false;
  }
  slab->start = start;
  slab->block_bytes = 0;
  slab->slice_count = 0;
  slab->run_bytes = 0;
  slab->state = SlabState::kEmpty;
  slab->entries = entries;
  slab->countdown = kBlocksOfSlice;
  slab->carved = 0;
  slab_map.set(start, 1, slab);
  const os::LockHolder hold(segment_store.lock());
  slab->next_held = slices;
  slices = slab;
  return true;
}

[[nodiscard]] BlockEntry& entry_of(const Slab* slab, const void* pointer) noexcept {
  return slab->entries[(address_of(pointer) - address_of(slab->start)) / kMinAlignmentBytes];
}
}  // namespace

void* take_empty_block() noexcept {
  for (;;) {
    void* const block = take_from_any();
    if (block != nullptr) return block;
    if (!add_slice()) return nullptr;
  }
}

bool give_back_empty_block(Slab* slab, const void* pointer) noexcept {
  const os::LockHolder hold(segment_store.lock());
  if (!is_empty_block(slab, pointer)) return false;
  entry_of(slab, pointer).store(kNobodys, std::memory_order_relaxed);
  ++slab->countdown;
  return true;
}

bool is_empty_block(const Slab* slab, const void* pointer) noexcept {
  return is_aligned(pointer, kMinAlignmentBytes) &&
         entry_of(slab, pointer).load(std::memory_order_relaxed) == kHeld;
}
}  // namespace drey::core
