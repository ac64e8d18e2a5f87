// pinned_state.hpp: everything one open pinned cache has, and what its calls do. Under PinnedCache.
//
// Invariants: all members but the registry's links are guarded by `lock`. A free block's stamps cover every use
// of it, and every use of its earlier lives that is not past: one handed to a stream keeps what it waited for.
// Read next: pinned_blocks.cpp, pinned_memory.cpp, pinned_open.cpp; docs/CONCURRENCY.md.
// SPDX-License-Identifier: MIT
#pragma once

#include "driver/driver_scope.hpp"
#include "pinned/slab_table.hpp"
#include "threads/mutex.hpp"
#include "timeline/timelines.hpp"

#include <drey/cuda/pinned_cache.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// An allocation on its way.
struct PinnedNeed {
  std::uint64_t requested = 0;
  std::uint32_t size_class = 0;
  StreamIndex user;  // place kNone: the host
  Outcome outcome;
  [[nodiscard]] bool is_for_host() const noexcept { return user.place == StreamIndex::kNone; }
};

class PinnedState {
 public:
  Outcome open(const DriverTable& table, const PinnedConfig& settings) noexcept;
  Outcome close() noexcept;
  void abandon() noexcept;
  void become_forked_child() noexcept { is_forked_child_ = true; }

  /// `stream`: null for the host.
  Allocation allocate(std::size_t bytes, std::size_t alignment, const Stream* stream) noexcept;
  /// `stream`: null for the block's own. `bytes`: null for any.
  Outcome deallocate(void* pointer, const Stream* stream, const std::size_t* bytes) noexcept;
  Outcome record_use(void* pointer, Stream stream) noexcept;
  Outcome retire(Stream stream) noexcept;
  Outcome trim(std::uint64_t bytes_kept, std::uint64_t* released) noexcept;
  Outcome set_bytes_max(std::uint64_t bytes_max) noexcept;
  [[nodiscard]] PinnedStatistics statistics() noexcept;
  [[nodiscard]] bool invariants_hold() noexcept;

  Mutex lock;
  // Guarded by the registry's lock.
  PinnedState* next_open = nullptr;
  PinnedState* previous_open = nullptr;

 private:
  static constexpr std::uint32_t kScanMax = 32;

  // pinned_open.cpp
  [[nodiscard]] Outcome check_usable() const noexcept;
  Outcome close_driver() noexcept;

  // pinned_blocks.cpp
  Outcome find_stream(Stream handle, DriverScope& scope, StreamIndex* stream) noexcept;
  Outcome check_not_capturing(Stream handle) const noexcept;
  Outcome find_live(void* pointer, PinnedIndex* index) noexcept;
  [[nodiscard]] bool is_past(const PinnedBlock& block) const noexcept;
  [[nodiscard]] bool is_ordered(StreamIndex user, const PinnedBlock& block) const noexcept;
  bool add_stamp(PinnedBlock& block, Stamp stamp) noexcept;
  Outcome add_end_of(PinnedBlock& block, const Stream* stream, DriverScope& scope) noexcept;
  void note_free(StreamIndex stream) noexcept;
  [[nodiscard]] Outcome misused(Status status) noexcept;

  // pinned_memory.cpp
  PinnedIndex take_free(const PinnedNeed& need) noexcept;
  PinnedIndex take_after_asking(PinnedNeed& need, DriverScope& scope) noexcept;
  PinnedIndex grow(PinnedNeed& need, DriverScope& scope) noexcept;
  Result add_slab(const PinnedNeed& need, std::uint32_t count) noexcept;
  Result close_epochs() noexcept;
  Result wait_for_pending() noexcept;
  void settle(std::uint32_t size_class, std::uint32_t scan_max) noexcept;
  void settle_all() noexcept;
  Result release_until(std::uint64_t bytes_kept) noexcept;
  [[nodiscard]] std::uint32_t count_that_fits(const PinnedNeed& need,
                                              std::uint32_t least) const noexcept;

  const DriverTable* driver_ = nullptr;
  PinnedConfig config_;
  Context context_ = nullptr;
  bool has_context_ = false;
  bool is_registered_ = false;
  bool is_closing_ = false;
  bool is_forked_child_ = false;
  SlabTable table_;
  Timelines timelines_;
  PinnedStatistics counts_;                           // but for what timelines_ counts
  std::uint32_t frees_[Timelines::kStreamsMax] = {};  // by place, since the last event
};

[[nodiscard]] Outcome pinned_outcome_of(Result result) noexcept;

namespace pinned_registry {
void add(PinnedState& state) noexcept;
void remove(PinnedState& state) noexcept;
/// Whether exit() has begun. Set from the first open on.
[[nodiscard]] bool is_exiting() noexcept;
}  // namespace pinned_registry
}  // namespace drey::cuda
