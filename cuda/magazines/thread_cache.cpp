// thread_cache.cpp: see thread_cache.hpp.
// SPDX-License-Identifier: MIT
#include "magazines/thread_cache.hpp"

#include <algorithm>

namespace drey::cuda {
namespace {
constexpr std::uint64_t kClassBytesMax = std::uint64_t{512} << 10;
constexpr std::uint64_t kRoomMax = 64;
}  // namespace

// So many that a burst of two batches stays in the thread, so few that no class hoards.
std::uint16_t magazine_room(std::uint32_t size_class) noexcept {
  const std::uint64_t bytes = granules_of_class(size_class) * kGranuleBytes;
  return static_cast<std::uint16_t>(std::clamp<std::uint64_t>(kClassBytesMax / bytes, 2, kRoomMax));
}

void ThreadCache::reset() noexcept {
  // Relaxed: only the owner, or nobody, runs it.
  turn.store(0, std::memory_order_relaxed);
  busy.store(0, std::memory_order_relaxed);
  for (Entry& entry : entries) entry = {no_stream(), nullptr};
  for (std::uint8_t& number : by_place) number = 0;
  for (Magazine& magazine : magazines) magazine.is_used = false;
  next_evicted = 0;
  scope_count = 0;
  state = nullptr;
  next = previous = nullptr;
}

Magazine* ThreadCache::add_magazine(StreamIndex stream, Stream handle) noexcept {
  for (std::size_t number = 0; number < kMagazines; ++number) {
    Magazine& magazine = magazines[number];
    if (magazine.is_used) continue;
    for (std::uint32_t index = 0; index < kClassCount; ++index)
      magazine.slots[index] = {kNoBlock, 0, magazine_room(index)};
    magazine.stream = stream;
    magazine.handle = handle;
    magazine.is_used = true;
    by_place[stream.place] = static_cast<std::uint8_t>(number + 1);
    add_entry(handle, &magazine);
    return &magazine;
  }
  return nullptr;
}

void ThreadCache::add_entry(Stream handle, Magazine* magazine) noexcept {
  const std::size_t place = entry_of(handle);
  const bool is_free = entries[place].magazine == nullptr || entries[place ^ 1].magazine != nullptr;
  entries[is_free ? place : place ^ 1] = {handle, magazine};
}

void ThreadCache::forget(Magazine& magazine) noexcept {
  for (Entry& entry : entries) {
    if (entry.magazine == &magazine) entry = {no_stream(), nullptr};
  }
  if (find(magazine.stream) == &magazine) by_place[magazine.stream.place] = 0;
  magazine.is_used = false;
}
}  // namespace drey::cuda
