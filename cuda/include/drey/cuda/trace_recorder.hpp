// trace_recorder.hpp: what a device allocator did lately, thread by thread: rings that keep the newest
// records and cost no lock, no allocation and no driver call.
//
// Invariants: (1) a ring has one writer, the thread that owns it; a thread that ends leaves its ring to
// the next one that needs one, records included. (2) The reader takes only records that no later one
// can have touched: after it has copied, it looks again how far the writer is, and drops what may have
// been written over meanwhile; those count as lost. (3) Off, an event costs one load and one branch.
// Read next: trace_record.hpp; recorder/trace_recorder.cpp; docs/CONCURRENCY.md for the orders.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/observer.hpp>
#include <drey/cuda/trace_record.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace drey::cuda {
/// One thread's. Made by the recorder; never given back.
struct alignas(64) TraceRing {
  std::atomic<std::uint64_t> head{0};           ///< records written; only the owner writes
  std::atomic<std::uint64_t>* words = nullptr;  ///< four a record
  std::uint64_t mask = 0;                       ///< records - 1, a power of two less one
  std::uint16_t thread = 0;
  std::atomic<bool> is_owned{false};
  std::uint64_t seen = 0;  ///< the reader's
};

/// A moment by both clocks.
struct TraceMoment {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;  ///< CLOCK_MONOTONIC
};

/// Starts to record, or goes on. `records` a thread, of the first start (32 bytes each; rounded up to a
/// power of two). Fails: false if it is 0 or above 2^26. Threads: any.
[[nodiscard]] bool start_recording(std::size_t records) noexcept;
void stop_recording() noexcept;

/// Copies what was recorded since the last call, each thread's in its order, one thread after another, as
/// much as there is room. Returns: how many. Threads: one reader at a time, beside any writers.
[[nodiscard]] std::size_t read_records(std::span<TraceRecord> records) noexcept;
/// Records that were overwritten before they were read, or had no ring. Threads: as read_records().
[[nodiscard]] std::uint64_t lost_records() noexcept;
[[nodiscard]] TraceMoment trace_moment() noexcept;

/// For DeviceAllocator::set_observer(): every event is recorded, while recording is on.
[[nodiscard]] const Observer& recording_observer() noexcept;

namespace recorder {
inline constinit std::atomic<bool> is_on{false};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local TraceRing* this_ring;

/// Null where no ring can be had: the record is lost, and counted.
[[nodiscard]] TraceRing* take_ring() noexcept;

[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

#if defined(__x86_64__)
[[nodiscard, gnu::always_inline]] inline std::uint64_t ticks() noexcept {
  return __rdtsc();
}
#else
[[nodiscard]] inline std::uint64_t ticks() noexcept {
  return monotonic_ns();
}
#endif

inline void write(TraceRecord record) noexcept {
  TraceRing* ring = this_ring;
  if (ring == nullptr) [[unlikely]] {
    ring = take_ring();
    if (ring == nullptr) return;
  }
  record.ticks = ticks();
  record.thread = ring->thread;
  // Relaxed: only this thread writes it.
  const std::uint64_t place = ring->head.load(std::memory_order_relaxed);
  std::atomic<std::uint64_t>* const words = ring->words + (place & ring->mask) * 4;
  const std::uint64_t last = record.stream | std::uint64_t{record.thread} << 32 |
                             std::uint64_t{static_cast<std::uint8_t>(record.action)} << 48 |
                             std::uint64_t{record.device} << 56;
  // Release, each: who reads a word of this record also sees the head before it, so it knows that the
  // record that was here is gone. Pairs with the acquires of read_records().
  words[0].store(record.ticks, std::memory_order_release);
  words[1].store(record.pointer, std::memory_order_release);
  words[2].store(record.bytes, std::memory_order_release);
  words[3].store(last, std::memory_order_release);
  // Release: the record is whole for who sees this head. Pairs with the acquire of read_records().
  ring->head.store(place + 1, std::memory_order_release);
}
}  // namespace recorder

/// Writes an event down, if recording. Threads: any. Cost: on, about 25 instructions and the clock.
[[gnu::always_inline]] inline void record_event(TraceAction action, std::uint64_t pointer,
                                                std::uint64_t bytes, std::uint32_t stream,
                                                std::uint8_t device) noexcept {
  // Relaxed: it decides only whether this event is written, by this thread, into its own ring.
  if (recorder::is_on.load(std::memory_order_relaxed)) [[unlikely]]
    recorder::write({0, pointer, bytes, stream, 0, action, device});
}
}  // namespace drey::cuda
