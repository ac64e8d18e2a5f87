// device_allocator.hpp: a caching, stream-ordered allocator of one device's memory.
//
// The contract: allocate(bytes, stream) returns memory that work put into `stream` from now on may use.
// A free promises that all uses come before the present end of a stream: the one it names, or, if it
// names none, the one the block was allocated for, and those of record_stream() and record_use().
// Memory goes to the same stream again without a driver call, to another one only when it is past, or the
// stream waits for it. A stream that will be destroyed is told by stream_retired() first. A stream that
// captures a graph gets memory of a pool, which is nobody else's as long as the graph: see begin_capture().
//
// Invariants: no block is handed out twice, or before the work of the one before it is ordered before the
// new stream's; a call that fails has changed nothing; no driver call is made by a destructor.
// Read next: status.hpp, statistics.hpp, observer.hpp; cuda/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>
#include <drey/cuda/observer.hpp>
#include <drey/cuda/statistics.hpp>
#include <drey/cuda/status.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
class AllocatorState;

/// 0: none. All in bytes; held memory is mapped, spare and stuck pages.
struct Limits {
  std::uint64_t hard = 0;      ///< never hold more
  std::uint64_t soft = 0;      ///< above it, give back what is idle before growing
  std::uint64_t headroom = 0;  ///< leave as much of the device free, as the driver counts it
};

struct AllocatorConfig {
  static constexpr std::size_t kPeersMax = 16;
  Device device = 0;
  Limits limits;
  std::uint64_t address_bytes =
      0;  ///< addresses to reserve; 0: four times the device, at most 1 TiB
  /// Pages of the largest handle, a power of two up to 128; 1: every page can be moved alone.
  std::uint32_t pages_of_large = 16;
  /// Handles of many pages are made while at most this part of the hard limit is held: they keep whole what
  /// the last percent of the limit needs in pieces. 1: always, and moves cost a tenth of the calls.
  std::uint32_t calm_part = 8;
  std::uint64_t magazine_bytes_max = std::uint64_t{32} << 20;  ///< a thread's; 0: no magazines
  bool may_insert_waits = true;  ///< a stream may be made to wait for another to get its memory
  bool asks_stream_ids = false;  ///< ask the driver which stream a handle is, in every call: then a
                                 ///< stream may be destroyed without stream_retired()
  Device peers[kPeersMax] = {};  ///< that may use the memory
  std::size_t peer_count = 0;
};

/// What a call came to. driver is kSuccess unless status is kDriver.
struct Outcome {
  Status status = Status::kOk;
  Result driver = Result::kSuccess;
  [[nodiscard]] bool is_ok() const noexcept { return status == Status::kOk; }
};

/// pointer is null if and only if the outcome is not kOk or 0 bytes were asked for.
struct Allocation {
  void* pointer = nullptr;
  Outcome outcome;
};

/// A point of a stream, made by mark().
struct StreamMark {
  std::uint64_t epoch = 0;
  std::uint32_t turn = 0;
  std::uint16_t place = UINT16_MAX;
};

/// A pool of one allocator; 0 is none.
struct PoolId {
  std::uint64_t value = 0;
  bool operator==(const PoolId&) const noexcept = default;
};

/// A capture that one allocator was told of; 0 is none.
struct CaptureId {
  std::uint64_t value = 0;
  bool operator==(const CaptureId&) const noexcept = default;
};

/// Called when an allocation is about to fail, with no lock held; it may free. `needed`: bytes.
/// Returns: whether it freed anything, so that trying again makes sense.
using OomCallback = bool (*)(void* context, std::uint64_t needed) noexcept;

/// Threads: any, but for open(), close() and the destructor, which need that no call is under way.
/// Cost: a pair of calls that a thread's magazine serves makes no driver call and takes no lock; any
/// other takes the allocator's lock, and the driver's time where it says so.
class DeviceAllocator {
 public:
  static constexpr std::size_t kAllocatorsMax = 16;
  static constexpr std::size_t kOomCallbacksMax = 8;
  static constexpr std::size_t kPoolsMax = 63;
  static constexpr std::size_t kCapturesMax = 16;    ///< under way at once
  static constexpr std::size_t kPoolScopesMax = 16;  ///< one in the other, of one thread
  static constexpr std::uint64_t kSmallBytesMax = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kGranuleBytes = 512;  ///< every block is aligned to it

  DeviceAllocator() noexcept = default;
  /// Makes no driver call: memory that close() did not give back stays the device's until the process
  /// ends. So an allocator with static storage is harmless at exit.
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  /// Starts the driver, retains the device's primary context, reserves addresses.
  /// Requires: `driver` stays as it is until close(). Fails: the allocator stays closed.
  [[nodiscard]] Outcome open(const DriverTable& driver, const AllocatorConfig& config) noexcept;
  /// Waits for the device and gives everything back; blocks that are live are lost.
  /// Fails: as the driver; the rest stays, and close() may be called again.
  Outcome close() noexcept;
  /// After a reset of the device, or when the driver is gone: forgets everything without a driver call.
  /// What is freed afterwards is a foreign pointer.
  void abandon() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }

  /// Memory for `stream`; null for 0 bytes. `alignment`: a power of two; 512 at least is given.
  /// Fails: with `report` filled if it is out of memory and `report` is not null.
  [[nodiscard]] Allocation try_allocate(std::size_t bytes, std::size_t alignment, Stream stream,
                                        OomReport* report = nullptr) noexcept;
  /// All uses are before the present ends of the stream it was allocated for and the recorded ones.
  /// Null: nothing happens.
  Outcome try_deallocate(void* pointer) noexcept;
  /// All uses are before the present end of `stream`, and of the recorded ones.
  Outcome try_deallocate(void* pointer, Stream stream) noexcept;
  /// The same, and `bytes` must be what was asked for.
  Outcome try_deallocate(void* pointer, std::size_t bytes, std::size_t alignment,
                         Stream stream) noexcept;

  /// The same three, with an AllocatorError (allocator_error.hpp) instead of an outcome.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, Stream stream);
  void deallocate(void* pointer);
  void deallocate(void* pointer, Stream stream);
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment, Stream stream);

  /// try_allocate_in(), the same way.
  [[nodiscard]] void* allocate_in(PoolId pool, std::size_t bytes, std::size_t alignment,
                                  Stream stream);

  /// The block is used in `stream` too, until it is freed.
  Outcome record_stream(void* pointer, Stream stream) noexcept;
  /// All uses in `stream` are before its present end. Cost: an event, as exact as can be.
  Outcome record_use(void* pointer, Stream stream) noexcept;

  /// For a program that makes streams wait by its own events: mark(waited) first, then record the
  /// event, make `waiter` wait for it, then note_wait(). Memory freed in `waited` before the mark is
  /// then usable in `waiter`. No driver call for a stream that was seen before.
  Outcome mark(Stream waited, StreamMark* mark) noexcept;
  Outcome note_wait(Stream waiter, StreamMark mark) noexcept;
  /// The stream is about to be destroyed: its handle may be another stream's next time.
  /// Cost: takes what all threads have in magazines of the stream; an event.
  Outcome stream_retired(Stream stream) noexcept;

  /// Memory set apart: blocks of a pool come back to it, and go to nobody else, until its last use is
  /// released: the creator's, and one for each scope, capture and graph. What is live then stays so.
  /// `is_for_oom`: what is free in it, and used by no graph, is taken before an allocation fails.
  Outcome create_pool(PoolId* pool, bool is_for_oom = false) noexcept;
  /// One use more.
  Outcome retain_pool(PoolId pool) noexcept;
  /// One use less. With the last the memory is everybody's; if graphs used it the device is waited for, or, while
  /// a graph is captured, that is left for later.
  Outcome release_pool(PoolId pool) noexcept;
  /// The same without a wait: no graph of the pool runs after the present end of `after`.
  Outcome release_pool(PoolId pool, Stream after) noexcept;
  /// This thread allocates from the pool until end_pool(); the innermost scope counts.
  Outcome begin_pool(PoolId pool) noexcept;
  /// Fails: kInvalidPool if it is not the innermost.
  Outcome end_pool(PoolId pool) noexcept;
  /// As try_allocate(), from the pool, whatever the scopes. In a capture it must be the capture's.
  [[nodiscard]] Allocation try_allocate_in(PoolId pool, std::size_t bytes, std::size_t alignment,
                                           Stream stream, OomReport* report = nullptr) noexcept;

  /// For graphs (capture_scope.hpp does all of it). Before a stream begins to capture; until end_capture() no
  /// magazine is open, no event is asked, nothing is trimmed.
  /// Fails: kCaptureForbids with a driver before 12.3; the driver's result.
  Outcome begin_capture(PoolId pool, CaptureId* capture) noexcept;
  /// The stream captures now: what is allocated for it, and for streams that join it, is the pool's. Blocks freed in the
  /// capture are used again in it where the graph has an order for both. Again with the same: nothing happens.
  /// Graphs of one pool are replayed one after the other, in the order of their captures: a later one has
  /// what an earlier one gave back.
  /// Fails: kInvalidStream if it does not capture, or in a capture that is known by another id.
  Outcome bind_capture(CaptureId capture, Stream stream) noexcept;
  /// The driver's capture is over. `is_kept`: there is a graph, which has a use of the pool, for release_pool()
  /// when it and all its replays are gone. Else (it broke, or was given up) all is as before begin_capture().
  Outcome end_capture(CaptureId capture, bool is_kept) noexcept;

  /// Gives idle memory back to the driver until at most `bytes` are held. Never waits for the device:
  /// what work may still use stays. Returns in `released` what went, if not null.
  Outcome trim_to(std::uint64_t bytes, std::uint64_t* released = nullptr) noexcept;
  /// The same for blocks free for `milliseconds` or longer, those in magazines excepted.
  Outcome trim_older_than(std::uint64_t milliseconds, std::uint64_t* released = nullptr) noexcept;
  Outcome set_limits(const Limits& limits) noexcept;
  [[nodiscard]] Limits limits() const noexcept;
  /// Callbacks run in the order in which they were added. Fails: kInvalidConfig when there are eight.
  Outcome on_oom(OomCallback callback, void* context) noexcept;

  /// Takes all memory from all addresses, which stay: contents are lost. Waits for the device. Frees
  /// while asleep are book-keeping. Asleep already: nothing to do.
  Outcome sleep() noexcept;
  /// Gives live blocks memory again, all of them or none.
  Outcome wake() noexcept;

  [[nodiscard]] Statistics statistics() const noexcept;
  /// How the held memory is divided now. Cost: all free blocks.
  [[nodiscard]] MemorySplit memory_split() const noexcept;
  /// Peaks begin anew at what is now.
  void reset_peaks() noexcept;
  /// Every block in the order of addresses, holes too, with the lock held: `visit` must not call the
  /// allocator. A magazine's blocks may change hands meanwhile.
  void visit_blocks(void (*visit)(void* context, const BlockView& block) noexcept,
                    void* context) const noexcept;
  /// Null: nobody observes. Requires: the observer stays until no call that may have seen it runs.
  void set_observer(const Observer* observer) noexcept;
  /// The whole mapping a block lies in, for libraries that register memory: its address and bytes.
  Outcome base_of(const void* pointer, void** base, std::size_t* bytes) const noexcept;
  /// Whether a pointer lies in this allocator's addresses. No lock.
  [[nodiscard]] bool owns(const void* pointer) const noexcept;
  [[nodiscard]] Device device() const noexcept;

  /// Counts everything and compares. Threads: no other call. Cost: all records.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  AllocatorState* state_ = nullptr;
};

/// record_use() at the end of a scope, so that it cannot be forgotten.
class UseScope {
 public:
  UseScope(DeviceAllocator& allocator, void* pointer, Stream stream) noexcept
      : allocator_(allocator), pointer_(pointer), stream_(stream) {}
  /// A failure leaves the block's old promise: its uses end with the allocation's stream.
  ~UseScope() { static_cast<void>(allocator_.record_use(pointer_, stream_)); }
  UseScope(const UseScope&) = delete;
  UseScope& operator=(const UseScope&) = delete;

 private:
  DeviceAllocator& allocator_;
  void* pointer_;
  Stream stream_;
};
}  // namespace drey::cuda
