// slab.hpp: a run of slices cut into equal blocks of one class, owned by one heap; this is its
// descriptor, which lives apart from the blocks. Large and huge blocks have a descriptor too.
//
// Equations, for a slab of blocks (live counts blocks handed out, those in the remote chain and in
// outboxes included):
//   live + |free| + (capacity - carved) == capacity
//   current: 1 <= countdown <= kCurrentBias     not counted: at zero it starts again
//   queued:  countdown == live                  zero: the slab is empty
//   full:    countdown == room_threshold() - (blocks the owner got back since)
//                                               zero: worth queueing again
// so that a free needs one decrement and one branch for all that can happen, and malloc counts
// nothing: what a current slab has live is the rest of the first equation, found when it is parked.
// Threads: the first cache line is the owner's; others' frees read the second, and `remote` in it is
// everybody's (protocol: remote_free.hpp). Read next: slab_map.hpp, fast_path.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/secure.hpp"
#include "core/size_class.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/units.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::core {
struct Heap;
struct SampleSite;
struct Segment;

/// A block that nobody holds: its first word links the list it is in.
struct Block {
  Block* next;
};
static_assert(sizeof(Block) <= kMinAlignmentBytes);

/// Links are read and written here only, since a secure build encodes them.
[[nodiscard, gnu::always_inline]] inline Block* next_of(const Block* block) noexcept {
  if constexpr (!kSecure) return block->next;
  return reinterpret_cast<Block*>(encode(address_of(block->next), block));
}
/// Secure builds: a link of `block` leads out of its slab. Returns only where DREY_ON_ERROR=warn.
[[gnu::cold]] void report_broken_link(const Block* block) noexcept;
[[gnu::always_inline]] inline void link(Block* block, Block* next) noexcept {
  block->next = next;
  if constexpr (kSecure) block->next = reinterpret_cast<Block*>(encode(address_of(next), block));
}

/// Unit of the segment store and of the slab map.
inline constexpr std::size_t kSliceBytes = 64_KiB;
inline constexpr unsigned kSliceShift = 16;
static_assert(kSliceBytes == std::size_t{1} << kSliceShift);

inline constexpr std::size_t kSmallSlabSlices = 1;
/// Slices of a slab of small blocks: one, unless that leaves more than a hundredth of it over at its
/// end (1.2 % of 912-byte blocks, 0.5 % of two slices, 0.3 % of three). Not more everywhere: random
/// sizes touch a slab of every class in every heap.
[[nodiscard]] constexpr std::size_t small_slab_slices_of(std::size_t block) noexcept {
  if (kSliceBytes % block <= kSliceBytes / 100) return kSmallSlabSlices;
  return 2 * kSliceBytes % block <= 2 * kSliceBytes / 210 ? 2 : 3;
}
inline constexpr std::size_t kMediumSlabSlices = 8;
/// Longer blocks have a slab each.
inline constexpr std::size_t kSharedSlabBlockMax = 64_KiB;

/// Slices of a slab of this class: enough for eight blocks, or for the one.
[[nodiscard]] constexpr std::size_t slab_slices_of(SizeClass size_class) noexcept {
  if (index_of(size_class) <= kSmallClassCount) return small_slab_slices_of(size_of(size_class));
  if (size_of(size_class) <= kSharedSlabBlockMax) return kMediumSlabSlices;
  return divide_up(size_of(size_class), kSliceBytes);
}
static_assert(kMediumSlabSlices * kSliceBytes / kSharedSlabBlockMax >= 8);
static_assert(kSliceBytes % kClassAlignmentMax == 0, "slabs start on slices");

enum class SlabState : std::uint8_t {
  kIdle,     ///< the store's, or never used
  kCurrent,  ///< its heap takes blocks from it
  kQueued,   ///< has room, waits in its heap's queue
  kFull,     ///< in no queue until enough came back
  kLarge,    ///< one block on slices of its own
  kCached,   ///< the slices of such a block, freed, in a heap's cache
  kHuge,     ///< one block on a mapping of its own
  kGuarded,  ///< as kHuge, between guard pages
  kEmpty,    ///< secure builds: addresses for malloc(0)
};

struct alignas(2 * kCacheLineBytes) Slab {
  Block* free;              ///< last freed first; owner only
  std::uint32_t countdown;  ///< see the equations
  std::uint32_t carved;     ///< blocks linked so far; the rest was never touched
  SizeClass size_class;
  SlabState state;
  bool is_zero : 1;           ///< what was never carved, and a slab's one block, reads as zero
  bool starts_over : 1;       ///< what is not carved was in use before, all of it
  bool is_reserve : 1;        ///< queued, empty, and counted in its heap's reserve
  std::uint16_t slice_count;  ///< of slabs and large blocks
  Slab* next;                 ///< in its heap's queue
  Slab* previous;             ///< in its heap's queue; null at the front
  Slab* next_held;            ///< in a private heap's list of all that it holds
  Slab* previous_held;        ///< in that list; null at the front
  union {
    Slab* next_idle;      ///< descriptors of huge blocks that are not in use
    BlockEntry* entries;  ///< secure builds, of slabs: by (address - start) / 16
  };

  alignas(kCacheLineBytes)
      std::atomic<Heap*> owner;        ///< null: nobody's free is a hit (idle, large, huge)
  std::byte* start;                    ///< first block
  std::uint32_t block_bytes;           ///< of a slab's blocks; 0 for large and huge
  std::uint32_t capacity;              ///< blocks
  std::atomic<std::uintptr_t> remote;  ///< chain head | kAnnounced
  std::atomic<Slab*> announce_next;    ///< in the owner's announce stack
  union {
    std::uint64_t reciprocal;  ///< of a slab's block_bytes, for is_block_start()
    SampleSite* sample;        ///< of a large or huge block: the profile's mark, or null
  };
  std::size_t run_bytes;  ///< usable bytes of a large or huge block
  Segment* segment;       ///< null for huge blocks

  /// Frees into a current slab between two visits of the slow path, where the clock is read: also a
  /// process that only hits gives idle memory back.
  static constexpr std::uint32_t kCurrentBias = 1U << 12;
  static constexpr std::uintptr_t kAnnounced = 1;

  /// Blocks that must come back to a full slab before it is worth queueing: an eighth, so that the
  /// slow path does not hunt single blocks.
  [[nodiscard]] std::uint32_t room_threshold() const noexcept {
    return capacity >= 8 ? capacity / 8 : 1;
  }

  /// Blocks handed out, from the owner's point of view. Requires: a slab of blocks. Cost: of a
  /// current slab, a walk of its free list.
  [[nodiscard]] std::uint32_t live() const noexcept;

  /// True for the descriptor of one block. Threads: any that holds a block of it: the size, unlike
  /// the state, does not change under them.
  [[nodiscard]] bool is_large_or_huge() const noexcept { return block_bytes == 0; }

  /// True if a block could start at `pointer`. Requires: within the slab. Threads: any that holds a
  /// block of it (what it reads does not change before the slab is empty).
  [[nodiscard]] bool is_block_start(const void* pointer) const noexcept {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - start);
    const std::uint64_t index = (offset * reciprocal) >> kReciprocalShift;  // offset / block_bytes
    return index * block_bytes == offset && index < capacity;
  }

  /// 2^40 / block, rounded up: exact for every offset below 2^40 / block, so in every slab of
  /// several blocks; 0 for a slab of one, whose only index is 0.
  static constexpr unsigned kReciprocalShift = 40;
  [[nodiscard]] static constexpr std::uint64_t reciprocal_of(std::size_t block) noexcept {
    if (block > kSharedSlabBlockMax) return 0;
    return divide_up(std::size_t{1} << kReciprocalShift, block);
  }
  static_assert(kSharedSlabBlockMax * kMediumSlabSlices * kSliceBytes < std::size_t{1}
                                                                            << kReciprocalShift);

  /// Makes the descriptor one of an empty slab of `for_class` over its slices. `zero`: all of them
  /// read as zero. Cost: constant.
  void open(SizeClass for_class, std::byte* first_block, std::size_t slices, bool zero) noexcept;

  /// Secure builds: true if a free list of this slab may hold `block`.
  [[nodiscard]] bool may_link(const Block* block) const noexcept {
    const std::uintptr_t offset = address_of(block) - address_of(start);
    // One compare: where it is no multiple of 16 the rotated offset is larger than any slab.
    return std::rotr(offset, 4) < std::size_t{slice_count} << (kSliceShift - 4);
  }

  /// The block after `block` in a list of this slab. A secure build looks where the link leads, and
  /// ends the list there if that is nowhere.
  [[nodiscard]] Block* next_in_list(const Block* block) const noexcept {
    Block* const linked = next_of(block);
    if constexpr (kSecure) {
      if (linked != nullptr && !may_link(linked)) [[unlikely]] {
        report_broken_link(block);
        return nullptr;
      }
    }
    return linked;
  }

  /// Secure builds, before the slices go back: zeroes the links, so that all of it is zero.
  void wipe_links() noexcept;

  /// First byte of its slices: `start`, but for the block that a secure build leaves out there.
  [[nodiscard]] std::byte* run_start() const noexcept {
    return kSecure ? start - block_bytes : start;
  }

  /// True if the slab holds one block.
  [[nodiscard]] bool has_one_block() const noexcept { return capacity == 1; }

  /// Links untouched blocks into the free list, at most one kernel page of them at a time, or four
  /// where the memory has been used before.
  /// Returns: false when all are carved. Requires: the free list is empty.
  bool carve() noexcept;

  /// Forgets the list of a slab that nobody holds a block of: carved anew, its blocks come in the order
  /// of their addresses, which the processor foresees, and not in that of their last frees. Cost: none;
  /// carve() writes the links again. Secure builds keep the list: its blocks have come out of quarantine.
  void start_over() noexcept {
    if constexpr (kSecure) return;
    free = nullptr;
    carved = 0;
    is_zero = false;
    starts_over = true;
  }

  /// Appends `count` blocks, chained from `head`, to the free list; the caller corrects countdown.
  void take_chain(Block* head, Block* tail) noexcept {
    link(tail, free);
    free = head;
  }

  // The three states a slab of blocks can be in; each sets countdown by its equation.
  void become_current() noexcept;
  void become_queued(std::uint32_t live_blocks) noexcept;
  void become_full() noexcept;

  /// Every equation above, by walking both lists. Requires: no other thread uses the slab.
  [[nodiscard]] bool invariants_hold() const noexcept;
};
static_assert(offsetof(Slab, previous) + sizeof(Slab*) <= kCacheLineBytes,
              "the owner's half is one cache line");
static_assert(sizeof(Slab) == 2 * kCacheLineBytes);
static_assert(sizeof(std::atomic<Heap*>) == sizeof(Heap*));
}  // namespace drey::core
