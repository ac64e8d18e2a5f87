// allocator_state.hpp: everything one open allocator has, and what its calls do when a magazine does
// not serve them. Under DeviceAllocator, which adds the hit path.
//
// Invariants: all members but `observer`, `id`, `turn`, `base` and `arena_bytes` are guarded by `lock`. No driver call
// is made on the way of a block back to its own stream. Whatever fails leaves blocks, counts and streams
// as they were, but for memory that is spare or past instead of in use.
// Read next: ladder.cpp; deallocate.cpp; capture_pools.cpp; docs/CONCURRENCY.md.
// SPDX-License-Identifier: MIT
#pragma once

#include "capture/captures.hpp"
#include "driver/driver_scope.hpp"
#include "heap/central_heap.hpp"
#include "magazines/thread_cache.hpp"
#include "pages/page_store.hpp"
#include "threads/mutex.hpp"
#include "timeline/timelines.hpp"

#include <drey/cuda/device_allocator.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// What becomes of one allocation.
struct Climb {
  Request request;
  std::uint64_t bytes = 0;
  std::uint8_t size_class = kNoClass;
  Stream handle = nullptr;
  ThreadCache* cache = nullptr;
  StreamIndex eager;             // request.stream outside of captures
  bool is_pooled_small = false;  // of a pool, and counted as small
  LadderStep step = LadderStep::kMagazine;
  Outcome outcome;
  Result last_driver = Result::kSuccess;
  bool was_retried = false;
  std::uint64_t gained[kLadderSteps] = {};
  [[nodiscard]] bool is_over() const noexcept { return !outcome.is_ok(); }
  [[nodiscard]] bool is_captured() const noexcept { return is_slot(request.stream); }
};

/// Memory set apart for graphs, or by a program.
struct Pool {
  std::uint32_t generation;
  std::uint32_t uses;  // creator, scopes, captures, graphs
  bool is_used;        // false: the number is free
  bool is_draining;    // no uses, but it could not be emptied yet
  bool has_graphs;     // replays of which may be under way
  bool is_for_oom;
};

class AllocatorState {
 public:
  Outcome open(const DriverTable& table, const AllocatorConfig& settings) noexcept;
  Outcome close() noexcept;
  void abandon() noexcept;
  void become_forked_child() noexcept;

  /// Whether a call may go on; else why not. Requires: `lock` is held.
  [[nodiscard]] Outcome check_usable() const noexcept;

  /// `asked`: no id for the pool of the capture or scope, if any.
  Allocation allocate(std::size_t bytes, std::size_t alignment, Stream stream, OomReport* report,
                      PoolId asked = {}) noexcept;
  /// `stream`: null for the block's own. `bytes`: null for any.
  Outcome deallocate(void* pointer, const Stream* stream, const std::size_t* bytes) noexcept;
  Outcome record(void* pointer, Stream stream, bool is_precise) noexcept;
  Outcome mark(Stream waited, StreamMark* mark) noexcept;
  Outcome note_wait(Stream waiter, StreamMark mark) noexcept;
  Outcome retire(Stream stream) noexcept;

  Outcome create_pool(bool is_for_oom, PoolId* pool) noexcept;
  Outcome retain_pool(PoolId pool) noexcept;
  /// `after`: the stream after whose present end no graph of it runs; null: not known.
  Outcome release_pool(PoolId pool, const Stream* after) noexcept;
  Outcome begin_pool(PoolId pool) noexcept;
  Outcome end_pool(PoolId pool) noexcept;
  Outcome begin_capture(PoolId pool, CaptureId* capture) noexcept;
  Outcome bind_capture(CaptureId capture, Stream stream) noexcept;
  Outcome end_capture(CaptureId capture, bool is_kept) noexcept;

  Outcome trim(std::uint64_t bytes, std::uint32_t age_ms, bool is_by_age,
               std::uint64_t* released) noexcept;
  Outcome set_limits(const Limits& limits) noexcept;
  Outcome add_callback(OomCallback callback, void* context) noexcept;
  Outcome sleep() noexcept;
  Outcome wake() noexcept;

  [[nodiscard]] Statistics statistics() noexcept;
  [[nodiscard]] MemorySplit split(std::uint64_t* pending_blocks,
                                  std::uint64_t* largest_free) noexcept;
  void reset_peaks() noexcept;
  void visit(void (*function)(void*, const BlockView&) noexcept, void* context) noexcept;
  [[nodiscard]] bool invariants_hold() noexcept;
  Outcome base_of(const void* pointer, void** start, std::size_t* bytes) noexcept;

  /// The block that begins at the pointer, or what is wrong with it. No lock.
  [[nodiscard]] Status find_block(const void* pointer, BlockIndex* index) const noexcept;
  [[nodiscard]] Status name_mistake(const void* pointer) const noexcept;
  /// The calling thread's cache, if it is attached.
  [[nodiscard]] ThreadCache* this_thread_cache() const noexcept;
  /// A thread ends: its blocks go to the heap, its counts to the allocator's. No driver call.
  void detach(ThreadCache& cache) noexcept;
  void tell(const AllocatorEvent& event) const noexcept {
    // Acquire: sees what the observer is; pairs with set_observer().
    const Observer* const told = observer.load(std::memory_order_acquire);
    if (told != nullptr) told->function(told->context, event);
  }
  [[nodiscard]] void* pointer_to(const Block& block) const noexcept {
    return reinterpret_cast<void*>(base + block.first * kGranuleBytes);
  }

  // Read without the lock; written before any other thread has the allocator.
  std::uint32_t id = 0;
  std::uint64_t turn = 0;
  DevicePointer base = 0;
  std::uint64_t arena_bytes = 0;
  std::atomic<const Observer*> observer{nullptr};
  AllocatorConfig config;

  mutable Mutex lock;
  ThreadCache* caches = nullptr;  // attached; changed under the registry's lock as well
  PageStore store;
  Timelines timelines;
  Captures captures;
  CentralHeap heap{store, timelines, captures};

 private:
  static constexpr std::uint32_t kScanMax = 32;
  static constexpr std::uint32_t kNoMax = UINT32_MAX;
  struct Callback {
    OomCallback function;
    void* context;
  };

  // streams.cpp
  Outcome find_stream(Stream handle, ThreadCache* cache, DriverScope& scope,
                      StreamIndex* stream) noexcept;
  Magazine* magazine_for(ThreadCache& cache, StreamIndex stream, Stream handle) noexcept;
  Result learn(DriverScope& scope) noexcept;

  // capture_pools.cpp
  [[nodiscard]] std::uint16_t place_of(PoolId pool) const noexcept;
  [[nodiscard]] std::uint32_t serial_of(CaptureId capture) const noexcept;
  [[nodiscard]] PoolId id_of(std::uint16_t number) const noexcept;
  void drop_use(std::uint16_t number, DriverScope& scope, const Stamp* after) noexcept;
  /// A thread that is in scopes of pools ends. No driver call.
  void leave_scopes(ThreadCache& cache) noexcept;
  void drain_pools(DriverScope& scope) noexcept;
  [[nodiscard]] bool empty_pool(std::uint16_t number, const Stamp* after) noexcept;
  void settle_capture(std::uint32_t serial, bool is_kept) noexcept;

  // capture_blocks.cpp
  struct Ending;
  Outcome choose_pool(Climb& climb, DriverScope& scope, PoolId asked) noexcept;
  Outcome find_capture(Stream stream, DriverScope& scope, std::uint32_t* serial) noexcept;
  BlockIndex climb_in_pool(Climb& climb, DriverScope& scope) noexcept;
  BlockIndex climb_captured(Climb& climb) noexcept;
  std::uint64_t take_back_pools() noexcept;
  Outcome find_ending(const Block& block, const Stream* stream, StreamIndex eager,
                      DriverScope& scope, Ending* ending) noexcept;
  Outcome add_captured_uses(Block& block, DriverScope& scope) noexcept;
  Outcome free_in_pool(BlockIndex index, const Stream* stream, StreamIndex eager,
                       DriverScope& scope) noexcept;
  [[nodiscard]] Stamp ending_in(StreamIndex stream) noexcept {
    return is_slot(stream) ? captures.now(stream) : timelines.now(stream);
  }
  [[nodiscard]] Stream handle_of(StreamIndex stream) const noexcept {
    return is_slot(stream) ? captures.handle_of(stream) : timelines.handle_of(stream);
  }

  // ladder.cpp
  BlockIndex climb(Climb& climb, DriverScope& scope) noexcept;
  BlockIndex climb_quietly(Climb& climb, DriverScope& scope) noexcept;
  BlockIndex climb_under_pressure(Climb& climb, DriverScope& scope) noexcept;
  BlockIndex take(Climb& climb, LadderStep step, Reach reach, std::uint32_t scan_max) noexcept;
  BlockIndex take_of_others(Climb& climb) noexcept;
  BlockIndex grow(Climb& climb, LadderStep step) noexcept;
  BlockIndex fill(Climb& climb, LadderStep step, const Place& place) noexcept;
  BlockIndex steal(Climb& climb, LadderStep step) noexcept;
  BlockIndex make_dependent(Climb& climb) noexcept;
  BlockIndex wait_for_pending(Climb& climb) noexcept;
  BlockIndex release_and_grow(Climb& climb) noexcept;
  Result order_stamps(const Block& block, StreamIndex user, bool on_host) noexcept;
  [[nodiscard]] BlockIndex largest_pending() const noexcept;
  [[nodiscard]] std::uint64_t room_pages(std::uint64_t wanted) noexcept;
  std::uint64_t give_pages_back(std::uint64_t pages_kept, std::uint32_t before_ms,
                                Result* result) noexcept;
  bool call_back(std::uint64_t needed, std::size_t* next) noexcept;
  void fail(Climb& climb, Result result) noexcept;
  void fill_report(const Climb& climb, OomReport* report) noexcept;

  // allocate.cpp
  void* hand_out(BlockIndex index, const Climb& climb) noexcept;
  void refill(const Climb& climb) noexcept;

  // deallocate.cpp
  void put_in_heap(BlockIndex index, StreamIndex stream, std::uint32_t now_ms) noexcept;
  void note_freed(StreamIndex stream, std::uint64_t bytes, std::uint32_t count) noexcept;
  Outcome add_use(Block& block, Stream handle, StreamIndex stream, bool is_precise,
                  DriverScope& scope) noexcept;
  bool put_in_magazine(BlockIndex index, ThreadCache& cache, StreamIndex stream,
                       const Stream* handle) noexcept;
  void settle_uses(Block& block, StreamIndex stream) noexcept;
  void flush_slot(ThreadCache& cache, Magazine& magazine, std::uint32_t size_class,
                  std::uint32_t kept) noexcept;
  std::uint64_t flush(ThreadCache& cache) noexcept;
  /// Every cache is closed and nobody is in one, until its owner has the lock.
  void close_caches() noexcept;
  std::uint64_t flush_all() noexcept;
  void open_cache(ThreadCache* cache) noexcept;
  void close_due_epochs(DriverScope& scope) noexcept;

  [[nodiscard]] Outcome misused(Status status) noexcept;
  void note_sizes() noexcept;
  void note_splits() noexcept;
  void forget() noexcept;

  const DriverTable* driver_ = nullptr;
  Context context_ = nullptr;
  bool has_context_ = false;
  bool is_registered_ = false;
  bool is_closing_ = false;
  bool is_asleep_ = false;
  bool is_forked_child_ = false;
  bool is_epoch_due_ = false;
  StreamIndex due_stream_;  // if is_epoch_due_
  std::uint64_t device_bytes_ = 0;
  Callback callbacks_[DeviceAllocator::kOomCallbacksMax] = {};
  std::size_t callback_count_ = 0;
  Pool pools_[CentralHeap::kPoolsMax] = {};  // by number; 0 is none
  std::size_t draining_count_ = 0;

  // Counts of who has no cache, of threads that ended, and of large blocks.
  CacheCounters small_counts_;
  CacheCounters large_counts_;
  Statistics kept_;  // peaks, and what only the lock's holder counts
};
}  // namespace drey::cuda
