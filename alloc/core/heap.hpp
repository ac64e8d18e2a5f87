// heap.hpp: one thread's slabs: the current one of each class, queues of those with room, the
// outbox.
//
// Invariants: current[c] is the static empty slab or a slab in state kCurrent owned by this heap;
// with_room[c] links slabs in state kQueued owned by this heap; a full slab is in neither.
// current[0] is always the empty slab; current_of() says where the current slabs really are. Heaps are never freed: threads that end leave theirs to
// others.
// Threads: its thread, or the holder of an orphan (HeapState::kServed); `announced` and `state`:
// any.
// Read next: fast_path.hpp, slow_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/outbox.hpp"
#include "core/quarantine.hpp"
#include "core/run_cache.hpp"
#include "core/slab.hpp"

#include <drey/base/counter.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
enum class HeapState : std::uint32_t {
  kNobody,     ///< the static empty heaps: own nothing
  kOwned,      ///< a thread's
  kOrphan,     ///< its thread has ended; whoever swings it to kServed or kOwned holds it
  kServed,     ///< somebody holds it for a moment
  kShared,     ///< of threads past their end; under the shared heap's lock
  kLost,       ///< its thread vanished in a fork while it was changing lists: never touched again
  kPrivate,    ///< made by the program (private_heap.hpp): no thread's, nobody adopts from it
  kDestroyed,  ///< such a heap after its end, until it is made again
};

/// The slab of every class that has none: nothing free, nothing to carve, owned by nobody.
extern constinit Slab empty_slab;

/// Current slab by class; begins as the empty slab everywhere.
struct CurrentSlabs {
  constexpr CurrentSlabs() noexcept {
    for (Slab*& slab : slabs) slab = &empty_slab;
  }
  [[nodiscard]] Slab*& operator[](std::size_t index) noexcept { return slabs[index]; }
  [[nodiscard]] const Slab* operator[](std::size_t index) const noexcept { return slabs[index]; }

  Slab* slabs[kClassCount];
};

struct Sampler;

/// Cache lines that a block of a small class takes up; see shared_heap.hpp.
inline constexpr std::size_t kLinesMax = kSmallSizeMax / kCacheLineBytes;
[[nodiscard]] constexpr std::size_t lines_of(SizeClass size_class) noexcept {
  return divide_up(size_of(size_class), kCacheLineBytes);
}

struct Heap {
  CurrentSlabs current;          ///< hot: taken from by take()
  Slab* with_room[kClassCount];  ///< fronts of the queues
  std::size_t reserve_bytes;     ///< in empty slabs that wait in the queues
  std::uint64_t ticks_seen;      ///< purge ticks at the last trim()
  Outbox outbox;
  [[no_unique_address]] HeapQuarantine quarantine;  ///< secure builds: what was freed last
  RunCache runs;               ///< last freed large runs; any thread may steal from it
  std::uint32_t large_visits;  ///< calls for large blocks: every so many read the clock
  Heap* next_heap;             ///< in the list of all heaps
  Heap* next_orphan;           ///< in the list of orphans; under the heap list's lock
  std::uint32_t exit_rounds;   ///< how often the thread-exit hook has come by
  std::uint8_t borrows_left[kLinesMax + 1];  ///< by lines_of(); see shared_heap.hpp
  CurrentSlabs* kept;  ///< the real current slabs while the profile is on, else null
  Sampler* sampler;    ///< null before the profile is first on; see sampler.hpp

  std::atomic<bool> busy;  ///< its thread is changing lists: see fork.cpp

  alignas(kCacheLineBytes) std::atomic<Slab*> announced;  ///< stack of slabs with remote frees
  /// On a line that nobody writes while threads run: every free of another heap's block reads it.
  alignas(kCacheLineBytes) std::atomic<HeapState> state;
  alignas(kCacheLineBytes) Counter slab_bytes;
  Counter remote_chain_count;

  /// The current slab of a class, wherever it is kept; take() itself looks into `current`.
  [[nodiscard]] Slab*& current_of(std::size_t index) noexcept {
    return (kept == nullptr ? current : *kept)[index];
  }
  [[nodiscard]] const Slab* current_of(std::size_t index) const noexcept {
    return kept == nullptr ? current[index] : (*kept)[index];
  }

  /// Puts a slab of this heap into its queue. Requires: kQueued, countdown set.
  void queue(Slab* slab) noexcept;
  void unqueue(Slab* slab) noexcept;

  /// A queued slab of the class whose list is not empty: blocks that were in use come before memory
  /// that nobody has touched. Cost: looks at a few slabs. Returns: null if none of those.
  [[nodiscard]] Slab* find_listed(SizeClass size_class) const noexcept;

  /// Takes blocks that other threads gave back to this heap's slabs off the announce stack.
  /// Threads: the owner or the holder.
  void serve_announcements() noexcept;

  /// Ends the current slab of a class: full, queued, or back to the store when it is empty.
  void park_current(SizeClass size_class) noexcept;

  /// Returns every empty slab to the store, the reserves included.
  void release_empty_slabs() noexcept;

  /// release_empty_slabs(), and the current slabs of one block that nobody holds: what a purge tick
  /// finds idle here. Threads: the owner.
  void trim() noexcept;

  /// Takes `count` blocks chained from `head` back into their slab of this heap, and corrects its
  /// state; an empty slab may be released. Requires: count <= slab->live().
  void take_back(Slab* slab, Block* head, Block* tail, std::uint32_t count) noexcept;

  /// A countdown has reached zero: queue the full slab, or keep or release the empty one.
  /// Requires: a BusyScope.
  void countdown_reached_zero(Slab* slab) noexcept;

  /// Gives an empty slab back to the store. Requires: live() == 0, not announced, in no list.
  void release(Slab* slab) noexcept;

  /// Empty slabs kept for the next burst, all classes together; one of a class is kept anyway.
  static constexpr std::size_t kReserveBytesMax = 1_MiB;

  /// Blocks that a new thread borrows of each number of cache lines before it has a slab for them.
  static constexpr std::uint8_t kBorrowsMax = kSecure ? 0 : 16;
  /// Threads: the owner, as its thread begins.
  void may_borrow_again() noexcept;

  /// Every invariant of every slab that can be reached from here.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  void put_back(Slab* slab, Block* chain) noexcept;
  void keep_or_release(Slab* slab) noexcept;
};

/// Marks its heap busy for a scope, so that a fork in another thread leaves half-changed lists
/// alone.
class BusyScope {
 public:
  explicit BusyScope(Heap& heap) noexcept
      : heap_(heap), was_busy_(heap.busy.load(std::memory_order_relaxed)) {
    // Relaxed, with signal fences: read only in a fork's child, where no other thread exists and
    // the store order of the vanished thread is the program's as far as its memory shows.
    heap_.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~BusyScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    heap_.busy.store(was_busy_, std::memory_order_relaxed);
  }
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

 private:
  Heap& heap_;
  bool was_busy_;  ///< scopes nest
};
}  // namespace drey::core
