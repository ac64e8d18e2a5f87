// guarded.cpp: see guarded.hpp.
// SPDX-License-Identifier: MIT
#include "core/guarded.hpp"

#include "core/segment_store.hpp"
#include "os/os.hpp"

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

namespace drey::core {
namespace {
constexpr std::byte kTailFill{0xee};
/// Bytes of a tail that are looked at; longer ones come with alignments only.
constexpr std::size_t kTailBytesMax = 64;

struct Range {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
};

/// The last freed ones, without memory and access. Under the store's lock.
constexpr std::size_t kQuarantinedMappings = 16;
constinit Range quarantine[kQuarantinedMappings] = {};
constinit std::size_t next_place = 0;

/// Exchanges the oldest range of the quarantine for this one.
[[nodiscard]] Range exchange_oldest(Range range) noexcept {
  const os::LockHolder hold(segment_store.lock());
  Range& place = quarantine[next_place++ % kQuarantinedMappings];
  const Range oldest = place;
  place = range;
  return oldest;
}

void empty_quarantine() noexcept {
  for (std::size_t count = 0; count < kQuarantinedMappings; ++count) {
    const Range range = exchange_oldest({});
    if (range.start != nullptr) os::unmap(range.start, range.bytes);
  }
}

[[nodiscard]] std::byte* tail_end(const std::byte* block, std::size_t size) noexcept {
  return reinterpret_cast<std::byte*>(align_up(address_of(block) + size, os::page_bytes()));
}

[[nodiscard]] std::size_t tail_bytes_of(const std::byte* block, std::size_t size) noexcept {
  const std::size_t bytes = address_of(tail_end(block, size)) - address_of(block) - size;
  return bytes < kTailBytesMax ? bytes : kTailBytesMax;
}

/// The slice border below the first guard page. That the block lies in the first slice from there, or
/// begins the next, makes the slice its own in the slab map.
[[nodiscard]] std::byte* mapping_start(std::byte* block) noexcept {
  const std::uintptr_t start = align_down(address_of(block) - os::page_bytes(), kSliceBytes);
  return block - (address_of(block) - start);
}

[[nodiscard]] Range mapping_of(const GuardedBlock& block) noexcept {
  return {mapping_start(block.start), block.reserved_pages * os::page_bytes()};
}

void write_tail(std::byte* block, std::size_t size) noexcept {
  const std::size_t tail = tail_bytes_of(block, size);
  for (std::size_t index = 0; index < tail; ++index) block[size + index] = kTailFill;
}

/// Gives back what lies within `wide` and outside of `range`.
void cut_to(const Range& wide, const Range& range) noexcept {
  const auto before = static_cast<std::size_t>(range.start - wide.start);
  if (before != 0) os::unmap(wide.start, before);
  const std::size_t after = wide.bytes - before - range.bytes;
  if (after != 0) os::unmap(range.start + range.bytes, after);
}

[[nodiscard]] void* reserve(std::size_t bytes) noexcept {
  void* const place = os::reserve(bytes, kSliceBytes);
  if (place != nullptr) return place;
  empty_quarantine();
  return os::reserve(bytes, kSliceBytes);
}
}  // namespace

GuardedBlock map_guarded(std::size_t size, std::size_t alignment, bool has_room) noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t data_bytes = align_up(size, page);
  const std::size_t room_bytes = has_room ? data_bytes : 0;
  const bool is_aligned_to_more = alignment > page;
  std::size_t bytes = data_bytes + 2 * page + room_bytes;
  if (is_aligned_to_more) bytes += alignment;
  if (bytes < size || bytes / page > UINT32_MAX) return {};
  auto* const place = static_cast<std::byte*>(reserve(bytes));
  if (place == nullptr) return {};
  std::byte* block = place + page;
  if (is_aligned_to_more) {
    block += align_up(address_of(block), alignment) - address_of(block);
  } else if (!has_room) {
    const std::size_t step = alignment < kMinAlignmentBytes ? kMinAlignmentBytes : alignment;
    block += align_down(data_bytes - size, step);
  }
  std::byte* const end = tail_end(block, size);
  if (!os::commit(end - data_bytes, data_bytes)) {
    os::unmap(place, bytes);
    return {};
  }
  std::byte* const start = mapping_start(block);
  const auto kept_bytes = static_cast<std::size_t>(end + page + room_bytes - start);
  cut_to({place, bytes}, {start, kept_bytes});
  write_tail(block, size);
  return {block, kept_bytes / page};
}

bool grow_guarded(const GuardedBlock& block, std::size_t old_size, std::size_t size) noexcept {
  const Range range = mapping_of(block);
  if (size > range.bytes) return false;
  std::byte* const old_end = tail_end(block.start, old_size);
  std::byte* const end = tail_end(block.start, size);
  if (end + os::page_bytes() > range.start + range.bytes) return false;
  if (end != old_end && !os::commit(old_end, static_cast<std::size_t>(end - old_end))) return false;
  const std::size_t tail = tail_bytes_of(block.start, old_size);
  for (std::size_t index = 0; index < tail; ++index) block.start[old_size + index] = std::byte{0};
  write_tail(block.start, size);
  return true;
}

bool guarded_tail_is_intact(const std::byte* block, std::size_t size) noexcept {
  const std::size_t tail = tail_bytes_of(block, size);
  for (std::size_t index = 0; index < tail; ++index) {
    if (block[size + index] != kTailFill) return false;
  }
  return true;
}

void unmap_guarded(const GuardedBlock& block) noexcept {
  const Range range = mapping_of(block);
  if (!os::revoke(range.start, range.bytes)) return os::unmap(range.start, range.bytes);
  const Range oldest = exchange_oldest(range);
  if (oldest.start != nullptr) os::unmap(oldest.start, oldest.bytes);
}
}  // namespace drey::core
