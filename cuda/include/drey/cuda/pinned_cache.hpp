// pinned_cache.hpp: a caching, stream-ordered allocator of pinned host memory, for copies to and from a device.
//
// The contract: allocate(bytes) returns memory that the host may write at once: no work uses it any more.
// allocate(bytes, stream) returns memory for work put into `stream` from now on; the host may touch it after that
// work. A free says that the host is done, and that all uses by the device come before the present end of
// a stream: the one it names or, if it names none, the one the block was allocated for, and those of record_use().
// A free never waits and never gives memory to the driver (cuMemFreeHost waits for the device): trim_to(),
// close() and an allocation that would fail do.
//
// Invariants: no block is handed out twice, or to the host before the events of all streams that used it have
// passed, or to a stream before it is ordered after them; a call that fails has changed nothing; no driver
// call is made by a destructor.
// Read next: pinned_resource.hpp for std::pmr; status.hpp; cuda/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/device_allocator.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
class PinnedState;

struct PinnedConfig {
  Device device = 0;
  std::uint64_t bytes_max = 0;  ///< never hold more; 0: as much as the driver gives
  /// An event is recorded after so many frees in a stream, or when an allocation finds nothing that is
  /// past; 1: in every free, so that memory comes back soonest.
  std::uint32_t frees_per_event = 16;
};

/// held_bytes == live_bytes + cached_bytes. Exact when no other thread is in a call.
struct PinnedStatistics {
  std::uint64_t live_blocks = 0;
  std::uint64_t live_bytes = 0;       ///< as rounded
  std::uint64_t requested_bytes = 0;  ///< of live blocks, as asked for
  std::uint64_t cached_bytes = 0;     ///< held and not live: past, or waiting for streams
  std::uint64_t held_bytes = 0;       ///< of the driver
  std::uint64_t held_bytes_peak = 0;
  std::uint64_t allocations = 0;    ///< that succeeded
  std::uint64_t hits = 0;           ///< of them, without new memory
  std::uint64_t driver_allocs = 0;  ///< calls of cuMemHostAlloc that succeeded
  std::uint64_t driver_frees = 0;   ///< of cuMemFreeHost
  std::uint64_t events_recorded = 0;
  std::uint64_t events_queried = 0;
  std::uint64_t synchronised = 0;  ///< times the host waited, but for what cuMemFreeHost waits
  std::uint64_t misuse = 0;        ///< calls that were refused as the caller's mistake
};

/// Threads: any, but for open(), close() and the destructor, which need that no call is under way. One lock.
/// Cost: an allocation for the host that finds past memory makes no driver call; any other call makes a few, and
/// one that needs new memory takes the driver's time with the lock held. Streams are those of the device;
/// memory can be used by all devices.
class PinnedCache {
 public:
  static constexpr std::size_t kAlignmentMax = 4096;

  PinnedCache() noexcept = default;
  /// Makes no driver call: memory that close() did not give back stays until the process ends.
  ~PinnedCache();
  PinnedCache(const PinnedCache&) = delete;
  PinnedCache& operator=(const PinnedCache&) = delete;

  /// Starts the driver and retains the device's primary context.
  /// Requires: `driver` stays as it is until close(). Fails: the cache stays closed.
  [[nodiscard]] Outcome open(const DriverTable& driver, const PinnedConfig& config = {}) noexcept;
  /// Waits for the device and gives everything back; blocks that are live are lost.
  /// Fails: as the driver; the rest stays, and close() may be called again.
  Outcome close() noexcept;
  /// When the driver is gone: forgets everything without a driver call.
  void abandon() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }

  /// Memory for the host; null for 0 bytes. `alignment`: a power of two up to kAlignmentMax; 512 at least is given.
  /// At most 12.5 % more than `bytes` is used, above 4 KiB and if `alignment` is at most 512.
  /// Fails: kOutOfPinnedMemory after everything idle went back and the device was waited for; kInvalidSize
  /// above 1 TiB; kInvalidAlignment; kDriver.
  [[nodiscard]] Allocation try_allocate(std::size_t bytes, std::size_t alignment = 512) noexcept;
  /// Memory for work of `stream`, which may be ordered after work that is still under way.
  /// Fails: besides, kInvalidStream, kTooManyStreams, and kCaptureForbids if the stream captures.
  [[nodiscard]] Allocation try_allocate(std::size_t bytes, std::size_t alignment,
                                        Stream stream) noexcept;
  /// Null: nothing happens. Fails: kDoubleFree, kForeignPointer, kInteriorPointer; kCaptureForbids;
  /// kTooManyStreams if the block is used by more than eight at once.
  Outcome try_deallocate(void* pointer) noexcept;
  Outcome try_deallocate(void* pointer, Stream stream) noexcept;
  /// The same two, and `bytes` must be what was asked for, else kWrongSize.
  Outcome try_deallocate_sized(void* pointer, std::size_t bytes) noexcept;
  Outcome try_deallocate_sized(void* pointer, std::size_t bytes, Stream stream) noexcept;

  /// The same, with an AllocatorError (allocator_error.hpp) instead of an outcome.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = 512);
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, Stream stream);
  void deallocate(void* pointer);
  void deallocate(void* pointer, Stream stream);
  void deallocate_sized(void* pointer, std::size_t bytes);
  void deallocate_sized(void* pointer, std::size_t bytes, Stream stream);

  /// Work put into `stream` so far uses the block: an event is recorded now, so later work does not count.
  /// Fails: as try_deallocate().
  Outcome record_use(void* pointer, Stream stream) noexcept;
  /// Before a stream is destroyed: what was freed in it is past without a wait for the device.
  Outcome stream_retired(Stream stream) noexcept;

  /// Gives idle memory back, oldest first, until at most `bytes_kept` are held or none is idle.
  /// Cost: cuMemFreeHost, which waits for the device. `released`: null, or bytes that went back, also on failure.
  Outcome trim_to(std::uint64_t bytes_kept, std::uint64_t* released = nullptr) noexcept;
  /// What is held already stays.
  Outcome set_bytes_max(std::uint64_t bytes_max) noexcept;

  /// All zero if closed. May be read in a forked child.
  [[nodiscard]] PinnedStatistics statistics() const noexcept;
  /// For tests: whether the records agree with each other.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  PinnedState* state_ = nullptr;
};
}  // namespace drey::cuda
