// thread_cache.hpp: what one thread keeps of one allocator: a magazine of free blocks for each stream it
// uses, by size class. Blocks in it were freed in that stream, and go out for it again, without a question.
//
// Invariants: the owner touches its cache between enter() and leave(), or with the heap's lock held; anybody
// else only with the lock held, and after close_and_wait(), or when the owner is gone. A block in a
// magazine is kMagazine, has exactly its class's granules and no uses.
// Read next: cache_registry.hpp; docs/CONCURRENCY.md, "A magazine taken from a running thread".
// SPDX-License-Identifier: MIT
#pragma once

#include "heap/block_table.hpp"

#include <drey/base/counter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
class AllocatorState;

struct Magazine {
  struct Slot {
    BlockIndex head;
    std::uint16_t count;
    std::uint16_t count_max;
  };
  Slot slots[kClassCount];
  StreamIndex stream;
  Stream handle;
  bool is_used;
};

struct CacheCounters {
  Counter allocations;
  Counter allocated_bytes;
  Counter requested_bytes;
  Counter frees;
  Counter freed_bytes;
  Counter freed_requested_bytes;
  Counter magazine_bytes;  // now
};

struct ThreadCache {
  static constexpr std::size_t kMagazines = 16;
  static constexpr std::size_t kEntries = 64;
  static constexpr std::size_t kScopesMax = 16;
  /// A handle that no stream has.
  static Stream no_stream() noexcept { return reinterpret_cast<Stream>(~std::uintptr_t{0}); }

  /// A handle, and which magazine is its stream's; two places for each.
  struct Entry {
    Stream handle;
    Magazine* magazine;
  };

  std::atomic<std::uint32_t> busy;
  std::atomic<std::uint64_t> turn;  // of the allocator it is open for; 0: closed
  std::uint64_t bytes_max;
  CacheCounters counters;
  Entry entries[kEntries];
  std::uint8_t by_place[Timelines::kStreamsMax];  // 1 + magazine of the stream there; 0: none
  Magazine magazines[kMagazines];
  std::uint8_t next_evicted;
  std::uint8_t scope_count;          // pools that this thread allocates from; the last one counts
  std::uint16_t scopes[kScopesMax];  // under the allocator's lock, as scope_count
  AllocatorState* state;             // attached to; under the registry's lock
  ThreadCache* next;                 // of the allocator, or idle
  ThreadCache* previous;

  [[nodiscard]] static std::size_t entry_of(Stream handle) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    return (bits ^ (bits >> 5) ^ (bits >> 11)) % kEntries;
  }
  /// Null if the handle was not seen by this thread, or was retired.
  [[nodiscard]] Magazine* find(Stream handle) const noexcept {
    const std::size_t place = entry_of(handle);
    if (entries[place].handle == handle) return entries[place].magazine;
    const std::size_t other = place ^ 1;
    return entries[other].handle == handle ? entries[other].magazine : nullptr;
  }
  [[nodiscard]] Magazine* find(StreamIndex stream) noexcept {
    const std::uint8_t number = by_place[stream.place];
    if (number == 0) return nullptr;
    Magazine& magazine = magazines[number - 1];
    return magazine.stream == stream ? &magazine : nullptr;
  }

  /// From here on the owner has its cache to itself, if it is open, until leave().
  [[nodiscard, gnu::always_inline]] bool enter(std::uint64_t allocator_turn) noexcept {
    // Relaxed, in this order for the compiler's part; the processor's part is the membarrier in
    // close_and_wait(), which pairs with both.
    busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (turn.load(std::memory_order_relaxed) == allocator_turn) return true;
    leave();
    return false;
  }
  [[gnu::always_inline]] void leave() noexcept {
    // Release, pairs with the acquire in close_and_wait(): what was done to the cache is seen by who
    // takes it away.
    busy.store(0, std::memory_order_release);
  }

  /// Empty, closed, attached to nobody.
  void reset() noexcept;
  /// An unused magazine for the stream, found by `handle` and by the stream's place from now on.
  /// Returns: null if all are used: forget() one first.
  Magazine* add_magazine(StreamIndex stream, Stream handle) noexcept;
  /// Another handle that means the magazine's stream.
  void add_entry(Stream handle, Magazine* magazine) noexcept;
  /// Requires: it is empty.
  void forget(Magazine& magazine) noexcept;
};

/// Blocks of the class that a magazine holds at most.
[[nodiscard]] std::uint16_t magazine_room(std::uint32_t size_class) noexcept;
}  // namespace drey::cuda
