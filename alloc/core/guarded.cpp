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
}  // namespace

GuardedMapping map_guarded(std::size_t size, std::size_t alignment) noexcept {
  const std::size_t page = os::page_bytes();
  const std::size_t data_bytes = align_up(size, page);
  const std::size_t slack = alignment > page ? alignment : 0;
  const std::size_t bytes = data_bytes + 2 * page + slack;
  if (bytes < size) return {};
  void* place = os::reserve(bytes, kSliceBytes);
  if (place == nullptr) {
    empty_quarantine();
    place = os::reserve(bytes, kSliceBytes);
    if (place == nullptr) return {};
  }
  auto* const mapping = static_cast<std::byte*>(place);
  std::byte* data = mapping + page;
  if (slack != 0) data = reinterpret_cast<std::byte*>(align_up(address_of(data), alignment));
  if (!os::commit(data, data_bytes)) {
    os::unmap(mapping, bytes);
    return {};
  }
  const std::size_t step = alignment < kMinAlignmentBytes ? kMinAlignmentBytes : alignment;
  std::byte* block = data;
  if (slack == 0) block += align_down(data_bytes - size, step);
  const std::size_t tail = tail_bytes_of(block, size);
  for (std::size_t index = 0; index < tail; ++index) block[size + index] = kTailFill;
  // What was left over for the alignment goes back: unmap_guarded() knows the rest by itself.
  std::byte* const end = tail_end(block, size) + page;
  if (end != mapping + bytes) {
    os::unmap(end, address_of(mapping) + bytes - address_of(end));
  }
  return {mapping, block};
}

bool guarded_tail_is_intact(const std::byte* block, std::size_t size) noexcept {
  const std::size_t tail = tail_bytes_of(block, size);
  for (std::size_t index = 0; index < tail; ++index) {
    if (block[size + index] != kTailFill) return false;
  }
  return true;
}

void unmap_guarded(const GuardedMapping& guarded, std::size_t size) noexcept {
  const std::byte* const end = tail_end(guarded.block, size) + os::page_bytes();
  const std::size_t bytes = address_of(end) - address_of(guarded.mapping);
  if (!os::revoke(guarded.mapping, bytes)) return os::unmap(guarded.mapping, bytes);
  const Range oldest = exchange_oldest({guarded.mapping, bytes});
  if (oldest.start != nullptr) os::unmap(oldest.start, oldest.bytes);
}
}  // namespace drey::core
