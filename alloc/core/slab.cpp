// slab.cpp: opening, carving and the changes of state of a slab; and its invariants as code.
// Read next: slab.hpp for the equations.
// SPDX-License-Identifier: MIT
#include "core/slab.hpp"

#include "core/parcel.hpp"
#include "core/shuffle.hpp"

namespace drey::core {
namespace {
/// Fresh memory is touched this much at a time: the smallest page the kernel gives.
constexpr std::size_t kCarveBytes = 4_KiB;
/// Memory that was in use before is probably still resident.
constexpr std::size_t kCarveUsedBytes = 16_KiB;
/// Of longer blocks as many at a time: their links are a cache line each.
constexpr std::uint32_t kCarveUsedBlocks = 16;
static_assert(kCarveUsedBytes / kMinAlignmentBytes <= kShuffledMax);

[[nodiscard]] std::size_t length_of(const Slab& slab, const Block* block,
                                    std::size_t length_max) noexcept {
  std::size_t length = 0;
  while (block != nullptr && length <= length_max) {
    block = slab.next_in_list(block);
    ++length;
  }
  return length;
}
}  // namespace

std::uint32_t Slab::live() const noexcept {
  switch (state) {
    case SlabState::kCurrent:
      return carved - static_cast<std::uint32_t>(length_of(*this, free, carved));
    case SlabState::kQueued:
      return countdown;
    case SlabState::kFull:
      return capacity - (room_threshold() - countdown);
    default:
      return 0;
  }
}

void Slab::open(SizeClass for_class, std::byte* first_block, std::size_t slices,
                bool zero) noexcept {
  const std::size_t bytes = slices * kSliceBytes;
  free = nullptr;
  countdown = 0;
  block_bytes = static_cast<std::uint32_t>(size_of(for_class));
  reciprocal = reciprocal_of(block_bytes);
  start = first_block;
  capacity = static_cast<std::uint32_t>(bytes / block_bytes);
  if constexpr (kSecure) {
    // The first block is never handed out: something known lies before every block.
    start += block_bytes;
    --capacity;
  }
  carved = 0;
  size_class = for_class;
  state = SlabState::kQueued;
  is_zero = zero;
  starts_over = false;
  is_reserve = false;
  slice_count = static_cast<std::uint16_t>(slices);
  next = nullptr;
  previous = nullptr;
  run_bytes = 0;
}

bool Slab::carve() noexcept {
  DREY_ASSERT(free == nullptr);
  if (carved == capacity) return false;
  std::byte* const first = start + std::size_t{carved} * block_bytes;
  // To the end of the page that the first block begins in, and one block at least.
  const std::size_t step = is_zero ? kCarveBytes : kCarveUsedBytes;
  const std::size_t step_left = step - (address_of(first) & (step - 1));
  std::uint32_t count = static_cast<std::uint32_t>(step_left / block_bytes);
  const std::uint32_t count_min = starts_over ? kCarveUsedBlocks : 1;
  if (count < count_min) count = count_min;
  if (count > capacity - carved) count = capacity - carved;
  Block* later = nullptr;
  Shuffle shuffle;
  if constexpr (kSecure) shuffle.draw(count);
  for (std::uint32_t index = count; index-- > 0;) {
    const std::size_t place = kSecure ? shuffle[index] : index;
    auto* const block = reinterpret_cast<Block*>(first + place * block_bytes);
    link(block, later);
    later = block;
  }
  free = later;
  carved += count;
  return true;
}

void Slab::wipe_links() noexcept {
  for (Block* block = free; block != nullptr;) {
    Block* const later = next_in_list(block);
    block->next = nullptr;
    block = later;
  }
}

void Slab::become_current() noexcept {
  DREY_ASSERT(state == SlabState::kQueued);
  countdown = kCurrentBias;
  state = SlabState::kCurrent;
}

void Slab::become_queued(std::uint32_t live_blocks) noexcept {
  countdown = live_blocks;
  state = SlabState::kQueued;
}

void Slab::become_full() noexcept {
  DREY_ASSERT(free == nullptr && carved == capacity);
  countdown = room_threshold();
  state = SlabState::kFull;
}

bool Slab::invariants_hold() const noexcept {
  if (state == SlabState::kIdle || is_large_or_huge()) return true;
  if (carved > capacity || capacity == 0) return false;
  if (std::size_t{capacity} * block_bytes > std::size_t{slice_count} * kSliceBytes) return false;
  const std::size_t free_count = length_of(*this, free, capacity);
  // Relaxed: the caller says that no other thread is about.
  const std::uintptr_t word = remote.load(std::memory_order_relaxed);
  std::size_t chain_count = 0;
  visit_parcels(*this, reinterpret_cast<const Block*>(word & ~kAnnounced),
                [&](const Block*) { return ++chain_count <= capacity; });
  if (state == SlabState::kCurrent) {
    return countdown >= 1 && countdown <= kCurrentBias && free_count + chain_count <= carved;
  }
  return live() + free_count + (capacity - carved) == capacity && chain_count <= live();
}
}  // namespace drey::core
