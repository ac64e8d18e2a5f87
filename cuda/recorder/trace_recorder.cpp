// trace_recorder.cpp: see trace_recorder.hpp: rings are made, handed on and read.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace_recorder.hpp>

#include <array>
#include <new>

#include <sys/mman.h>
#include <time.h>

namespace drey::cuda {
namespace recorder {
constinit thread_local TraceRing* this_ring = nullptr;
}  // namespace recorder

namespace {
constexpr std::size_t kRingsMax = 1024;
constexpr std::size_t kRecordsMax = std::size_t{1} << 26;

constinit std::atomic<std::size_t> records_a_ring{0};
constinit std::array<std::atomic<TraceRing*>, kRingsMax> rings{};
constinit std::atomic<std::uint64_t> records_without_ring{0};
constinit std::atomic<std::uint16_t> threads_seen{0};
constinit std::uint64_t overwritten = 0;  // the reader's

// Gives the ring back when its thread ends. What the thread records later is lost.
struct RingOwner {
  RingOwner() noexcept = default;
  ~RingOwner() {
    has_ended = true;
    TraceRing* const ring = recorder::this_ring;
    recorder::this_ring = nullptr;
    // Release: the next owner goes on behind the last record. Pairs with the acquire of find_idle().
    if (ring != nullptr) ring->is_owned.store(false, std::memory_order_release);
  }
  RingOwner(const RingOwner&) = delete;
  RingOwner& operator=(const RingOwner&) = delete;
  bool has_ended = false;
};
thread_local RingOwner this_owner;

// Relaxed, here and at the end: counts and numbers that order nothing.
TraceRing* lose_record() noexcept {
  records_without_ring.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

TraceRing* find_idle() noexcept {
  for (std::atomic<TraceRing*>& slot : rings) {
    // Acquire: the ring is built. Pairs with make_ring().
    TraceRing* const ring = slot.load(std::memory_order_acquire);
    if (ring == nullptr) return nullptr;
    bool owned = false;
    // Acquire: pairs with ~RingOwner().
    if (ring->is_owned.compare_exchange_strong(owned, true, std::memory_order_acquire,
                                               std::memory_order_relaxed))
      return ring;
  }
  return nullptr;
}

TraceRing* make_ring() noexcept {
  // Relaxed: set before is_on was, by start_recording(); a thread that sees is_on late sees 0 at worst.
  const std::size_t records = records_a_ring.load(std::memory_order_relaxed);
  if (records == 0) return nullptr;
  const std::size_t bytes = sizeof(TraceRing) + records * sizeof(TraceRecord);
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const ring = new (memory) TraceRing;
  // Zero pages are atomics of zero: nothing is to be constructed.
  ring->words = reinterpret_cast<std::atomic<std::uint64_t>*>(ring + 1);
  ring->mask = records - 1;
  ring->is_owned.store(true, std::memory_order_relaxed);  // published by the slot
  for (std::atomic<TraceRing*>& slot : rings) {
    TraceRing* nobody = nullptr;
    // Release: pairs with the acquires of find_idle() and read_records().
    if (slot.compare_exchange_strong(nobody, ring, std::memory_order_release,
                                     std::memory_order_relaxed))
      return ring;
  }
  ::munmap(memory, bytes);
  return nullptr;
}

TraceRecord record_of(const std::atomic<std::uint64_t>* words) noexcept {
  // Acquire: pairs with the releases of recorder::write().
  TraceRecord record;
  record.ticks = words[0].load(std::memory_order_acquire);
  record.pointer = words[1].load(std::memory_order_acquire);
  record.bytes = words[2].load(std::memory_order_acquire);
  const std::uint64_t last = words[3].load(std::memory_order_acquire);
  record.stream = static_cast<std::uint32_t>(last);
  record.thread = static_cast<std::uint16_t>(last >> 32);
  record.action = static_cast<TraceAction>(static_cast<std::uint8_t>(last >> 48));
  record.device = static_cast<std::uint8_t>(last >> 56);
  return record;
}

// Records from ring.seen on that fit; those that are whole end up at the front.
std::size_t read_ring(TraceRing& ring, std::span<TraceRecord> records) noexcept {
  const std::uint64_t room = ring.mask + 1;
  // Acquire, both: see recorder::write().
  const std::uint64_t head = ring.head.load(std::memory_order_acquire);
  std::uint64_t first = ring.seen;
  if (head - first > room) first = head - room;
  const std::uint64_t count = head - first < records.size() ? head - first : records.size();
  for (std::uint64_t index = 0; index < count; ++index)
    records[index] = record_of(ring.words + ((first + index) & ring.mask) * 4);
  const std::uint64_t later = ring.head.load(std::memory_order_acquire);
  // The writer may be inside record `later`, whose place is that of later - room: so a ring that was
  // full once gives one record less than it holds.
  const std::uint64_t whole = later >= room ? later - room + 1 : 0;
  std::uint64_t dropped = 0;
  if (whole > first) dropped = whole - first < count ? whole - first : count;
  overwritten += first - ring.seen + dropped;
  ring.seen = first + count;
  for (std::uint64_t index = dropped; dropped != 0 && index < count; ++index)
    records[index - dropped] = records[index];
  return count - dropped;
}
}  // namespace

namespace recorder {
std::uint64_t monotonic_ns() noexcept {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

TraceRing* take_ring() noexcept {
  if (this_owner.has_ended) return lose_record();
  TraceRing* ring = find_idle();
  if (ring == nullptr) ring = make_ring();
  if (ring == nullptr) return lose_record();
  ring->thread = threads_seen.fetch_add(1, std::memory_order_relaxed);
  this_ring = ring;
  return ring;
}
}  // namespace recorder

bool start_recording(std::size_t records) noexcept {
  if (records == 0 || records > kRecordsMax) return false;
  std::size_t nothing = 0;
  records_a_ring.compare_exchange_strong(nothing, std::bit_ceil(records),
                                         std::memory_order_relaxed);
  // Relaxed: see record_event(); a thread that learns of it late records from then on.
  recorder::is_on.store(true, std::memory_order_relaxed);
  return true;
}

void stop_recording() noexcept {
  recorder::is_on.store(false, std::memory_order_relaxed);
}

std::size_t read_records(std::span<TraceRecord> records) noexcept {
  std::size_t count = 0;
  for (const std::atomic<TraceRing*>& slot : rings) {
    // Acquire: pairs with make_ring().
    TraceRing* const ring = slot.load(std::memory_order_acquire);
    if (ring == nullptr || count == records.size()) break;
    count += read_ring(*ring, records.subspan(count));
  }
  return count;
}

std::uint64_t lost_records() noexcept {
  return overwritten + records_without_ring.load(std::memory_order_relaxed);
}

TraceMoment trace_moment() noexcept {
  const std::uint64_t ns = recorder::monotonic_ns();
  return {recorder::ticks(), ns};
}
}  // namespace drey::cuda
