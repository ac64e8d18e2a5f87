// run_cache.cpp: see run_cache.hpp.
//
// Orders: a put releases, a take or steal acquires: the descriptor is seen as it was put.
// SPDX-License-Identifier: MIT
#include "core/run_cache.hpp"

#include "os/os.hpp"

namespace drey::core {
namespace {
constexpr unsigned kCountShift = os::kAddressBits;
constexpr std::uintptr_t kAged = 1;
static_assert(alignof(Slab) > kAged);
static_assert(RunCache::kBytesMax / kSliceBytes < std::size_t{1} << (64 - kCountShift));

[[nodiscard]] std::uintptr_t word_of(const Slab* slab) noexcept {
  return address_of(slab) | std::uintptr_t{slab->slice_count} << kCountShift;
}
[[nodiscard]] std::size_t slices_of(std::uintptr_t word) noexcept {
  return word >> kCountShift;
}
[[nodiscard]] Slab* slab_of(std::uintptr_t word) noexcept {
  return reinterpret_cast<Slab*>(word & ((std::uintptr_t{1} << kCountShift) - 1) & ~kAged);
}
}  // namespace

Slab* RunCache::take(std::size_t slices) noexcept {
  for (std::atomic<std::uintptr_t>& slot : slots_) {
    std::uintptr_t word = slot.load(std::memory_order_relaxed);
    const std::size_t held = slices_of(word);
    if (held < slices || held > slices + slices / 8) continue;
    // Acquire: pairs with put(). It fails where a purge tick marks or steals the run meanwhile.
    if (slot.compare_exchange_strong(word, 0, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return slab_of(word);
    }
  }
  return nullptr;
}

bool RunCache::put(Slab* slab) noexcept {
  std::size_t total_slices = slab->slice_count;
  std::atomic<std::uintptr_t>* empty = nullptr;
  for (std::atomic<std::uintptr_t>& slot : slots_) {
    const std::uintptr_t word = slot.load(std::memory_order_relaxed);
    total_slices += slices_of(word);
    if (word == 0) empty = &slot;
  }
  if (empty == nullptr || total_slices > kBytesMax / kSliceBytes) return false;
  // Release: pairs with take() and steal(). Only the heap's thread fills slots, so a store will do.
  empty->store(word_of(slab), std::memory_order_release);
  return true;
}

Slab* RunCache::steal(bool aged_only) noexcept {
  for (std::atomic<std::uintptr_t>& slot : slots_) {
    std::uintptr_t word = slot.load(std::memory_order_relaxed);
    if (word == 0 || (aged_only && (word & kAged) == 0)) continue;
    // Acquire: pairs with put().
    if (slot.compare_exchange_strong(word, 0, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return slab_of(word);
    }
  }
  for (std::atomic<std::uintptr_t>& slot : slots_) {
    std::uintptr_t word = slot.load(std::memory_order_relaxed);
    // Relaxed: the mark says nothing of the run; release is kept by the put it is on top of.
    if (word != 0) {
      slot.compare_exchange_strong(word, word | kAged, std::memory_order_relaxed,
                                   std::memory_order_relaxed);
    }
  }
  return nullptr;
}

std::size_t RunCache::held_bytes() const noexcept {
  std::size_t slices = 0;
  // Relaxed: a statistic.
  for (const std::atomic<std::uintptr_t>& slot : slots_) {
    slices += slices_of(slot.load(std::memory_order_relaxed));
  }
  return slices * kSliceBytes;
}
}  // namespace drey::core
