// recorder.hpp: one event into the calling thread's part of the trace.
//
// Invariants: (1) next..end is room in a chunk that no other thread writes to; (2) it belongs to
// this process: `generation` is the state's, and the state's page reads as zero in the child of any
// fork, so a child can never write into its parent's trace; (3) nothing here allocates, and errno is
// kept.
// Read next: recorder.cpp; trace_file.hpp for where chunks come from.
// SPDX-License-Identifier: MIT
#pragma once

#include "trace/clock.hpp"

#include <drey/alloc/trace_format.hpp>
#include <drey/base/bits.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::trace {
/// What of the process's trace every event looks at.
struct Gate {
  /// 0 while nothing is recorded; else a number of this process alone, odd.
  std::atomic<std::uint64_t> generation;
};
inline constexpr Gate kClosedGate{0};
/// What ThreadBuffer::fast_generation is where each stamp needs a call: no generation.
inline constexpr std::uint64_t kNeverFast = 2;

/// Where the calling thread writes.
struct ThreadBuffer {
  TraceRecord* next = nullptr;
  TraceRecord* end = nullptr;
  const Gate* gate = &kClosedGate;
  std::uint64_t fast_generation = kNeverFast;  ///< `generation`, where stamps are ticks
  std::uint64_t generation = 0;                ///< of the trace that the room is part of
  std::uint32_t thread = 0;
  std::uint32_t part = 0;
  bool has_number = false;  ///< `thread` is this thread's in this generation
  bool busy = false;        ///< inside the slow path; a signal handler came back here
  bool ended = false;       ///< its destructors have run: single records from now on
};

[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadBuffer this_buffer;
extern constinit bool stamps_are_ticks;

/// The clock of this trace, whichever it is.
[[nodiscard]] inline std::uint64_t stamp() noexcept {
  return stamps_are_ticks ? processor_counter() : monotonic_ns();
}

/// Writes one record if that needs no call. Returns: false, and nothing is written, where there is no
/// room, no trace yet, or none at all. Cost: about 20 instructions, one of them the stamp.
[[nodiscard, gnu::always_inline]] inline bool try_record(std::uint64_t word,
                                                         std::size_t size) noexcept {
  ThreadBuffer& buffer = this_buffer;
  TraceRecord* const place = buffer.next;
  // Relaxed: set by this thread's own slow path, or zero since the fork that made this process.
  const std::uint64_t generation = buffer.gate->generation.load(std::memory_order_relaxed);
  if (place == buffer.end || generation != buffer.fast_generation) [[unlikely]] {
    return false;
  }
  buffer.next = place + 1;  // first: a signal handler that allocates takes the next one
  place->ticks = processor_counter();
  place->size = size;
  place->word = word;
  asm volatile("" ::: "memory");  // the block is given back, or handed on, after this
  return true;
}

/// Writes one record, whatever it takes. errno is kept.
[[gnu::noinline, gnu::cold]] void record_slowly(std::uint64_t word, std::size_t size) noexcept;

/// Writes one record.
[[gnu::always_inline]] inline void record(RecordKind kind, const void* pointer, std::size_t size,
                                          unsigned alignment_log2 = 0) noexcept {
  const std::uint64_t word = pack(kind, address_of(pointer), alignment_log2);
  if (!try_record(word, size)) [[unlikely]]
    record_slowly(word, size);
}
}  // namespace drey::trace
