// guarded.cpp: see guarded.hpp.
// SPDX-License-Identifier: MIT
#include "core/guarded.hpp"

#include "core/guarded_quarantine.hpp"
#include "core/misuse.hpp"
#include "core/segment_store.hpp"
#include "os/os.hpp"

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <cstring>

namespace drey::core {
namespace {
constexpr std::byte kTailFill{0xee};
/// Bytes of a tail that are looked at; longer ones come with alignments only.
constexpr std::size_t kTailBytesMax = 64;

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

[[nodiscard]] GuardedRange mapping_of(const GuardedBlock& block) noexcept {
  return {mapping_start(block.start), block.reserved_pages * os::page_bytes(), 0};
}

void write_tail(std::byte* block, std::size_t size) noexcept {
  const std::size_t tail = tail_bytes_of(block, size);
  for (std::size_t index = 0; index < tail; ++index) block[size + index] = kTailFill;
}

/// Gives back what lies within `wide` and outside of `range`.
void cut_to(const GuardedRange& wide, const GuardedRange& range) noexcept {
  const auto before = static_cast<std::size_t>(range.start - wide.start);
  if (before != 0) os::unmap(wide.start, before);
  const std::size_t after = wide.bytes - before - range.bytes;
  if (after != 0) os::unmap(range.start + range.bytes, after);
}

/// Bytes before a block that ends where its last page does.
[[nodiscard]] std::size_t lead_of(std::size_t size, std::size_t alignment,
                                  std::size_t data_bytes) noexcept {
  const std::size_t step = alignment < kMinAlignmentBytes ? kMinAlignmentBytes : alignment;
  return align_down(data_bytes - size, step);
}

/// True if nobody wrote to what was kept.
[[nodiscard]] bool is_still_zero(const std::byte* start, std::size_t bytes) noexcept {
  return start[0] == std::byte{0} && std::memcmp(start, start + 1, bytes - 1) == 0;
}

/// Makes a block at the end of a mapping whose memory was kept. What is left before it loses its own.
/// Fails: a null start.
[[nodiscard]] GuardedBlock reuse_kept(std::size_t size, std::size_t alignment,
                                      std::size_t data_bytes) noexcept {
  const GuardedRange range = take_kept_mapping(data_bytes);
  if (range.start == nullptr) return {};
  std::byte* const data = range.start + range.bytes - os::page_bytes() - data_bytes;
  if (range.kept_bytes != data_bytes &&
      !os::revoke(range.start, static_cast<std::size_t>(data - range.start))) {
    os::unmap(range.start, range.bytes);
    return {};
  }
  if (!is_still_zero(data, data_bytes)) {
    report_finding("free list", data, "was written to after it was freed");
    std::memset(data, 0, data_bytes);
  }
  std::byte* const block = data + lead_of(size, alignment, data_bytes);
  std::byte* const start = mapping_start(block);
  const auto kept_bytes = static_cast<std::size_t>(range.start + range.bytes - start);
  cut_to(range, {start, kept_bytes, 0});
  write_tail(block, size);
  return {block, kept_bytes / os::page_bytes()};
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
  if (!has_room && alignment <= page) {
    const GuardedBlock block = reuse_kept(size, alignment, data_bytes);
    if (block.start != nullptr) return block;
  }
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
    block += lead_of(size, alignment, data_bytes);
  }
  std::byte* const end = tail_end(block, size);
  if (!os::commit(end - data_bytes, data_bytes)) {
    os::unmap(place, bytes);
    return {};
  }
  std::byte* const start = mapping_start(block);
  const auto kept_bytes = static_cast<std::size_t>(end + page + room_bytes - start);
  cut_to({place, bytes, 0}, {start, kept_bytes, 0});
  write_tail(block, size);
  return {block, kept_bytes / page};
}

bool grow_guarded(const GuardedBlock& block, std::size_t old_size, std::size_t size) noexcept {
  const GuardedRange range = mapping_of(block);
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

void unmap_guarded(const GuardedBlock& block, std::size_t size) noexcept {
  GuardedRange range = mapping_of(block);
  std::byte* const data = block.start - address_of(block.start) % os::page_bytes();
  std::byte* const end = tail_end(block.start, size);
  // What has room behind it, or has been shrunk, ends somewhere else.
  if (end + os::page_bytes() == range.start + range.bytes) {
    range.kept_bytes = static_cast<std::size_t>(end - data);
  }
  quarantine_mapping(range);
}
}  // namespace drey::core
