// walk.cpp: see walk.hpp. Allocates nothing; a slab's free blocks are bits on the stack.
// SPDX-License-Identifier: MIT
#include "core/walk.hpp"

#include "core/bitmap.hpp"
#include "core/heap.hpp"
#include "core/survey.hpp"
#include "core/thread_heap.hpp"

namespace drey::core {
namespace {
/// More blocks than any slab has.
constexpr std::size_t kBlocksMax = kSliceBytes / kMinAlignmentBytes;
static_assert(kMediumSlabSlices * kSliceBytes / kSmallSizeMax <= kBlocksMax);
using BlockSet = Bitmap<kBlocksMax>;

/// Takes a block out of `live`. Returns: false where none can be.
bool remove_block(const RunView& run, const Block* block, BlockSet& live) noexcept {
  const std::size_t index = (address_of(block) - address_of(run.start)) / run.block_bytes;
  if (index >= run.capacity) return false;
  live.clear_range(index, 1);
  return true;
}

// A list longer than the slab is damaged: it ends there.
void remove_list(const RunView& run, const Block* block, BlockSet& live) noexcept {
  for (std::uint32_t count = 0; block != nullptr && count < run.capacity; ++count) {
    if (!remove_block(run, block, live)) return;
    block = next_of(block);
  }
}

void remove_chain(const RunView& run, const Block* chain, BlockSet& live) noexcept {
  std::uint32_t count = 0;
  visit_parcels(*run.slab, chain, [&](const Block* block) {
    return remove_block(run, block, live) && ++count < run.capacity;
  });
}

struct Waiting {
  const RunView& run;
  BlockSet& live;
};

void remove_waiting(const Heap& heap, void* argument) noexcept {
  const auto& waiting = *static_cast<const Waiting*>(argument);
  const Outbox::Waiting notes = heap.outbox.waiting_for(waiting.run.slab);
  for (std::uint32_t index = 0; index < notes.count; ++index) {
    remove_block(waiting.run, block_at(*waiting.run.slab, notes.places[index]), waiting.live);
  }
}

void find_live(const RunView& run, drey_walk_scope_t scope, BlockSet& live) noexcept {
  live.set_range(0, run.slab->carved);
  remove_list(run, run.slab->free, live);
  // Acquire: the links of the chain; pairs with the release in hand_over(). Only the owner takes it.
  const std::uintptr_t word = run.slab->remote.load(std::memory_order_acquire);
  remove_chain(run, reinterpret_cast<const Block*>(word & ~Slab::kAnnounced), live);
  if (scope == DREY_WALK_THREAD) return;
  Waiting waiting{run, live};
  visit_heaps(remove_waiting, &waiting);
}

struct Walk {
  drey_walk_callback_t callback;
  void* argument;

  [[nodiscard]] bool tell(const drey_part_t& part) const noexcept {
    return callback(&part, argument);
  }
};

bool walk_slab(const RunView& run, drey_walk_scope_t scope, const Walk& walk) noexcept {
  BlockSet live;
  find_live(run, scope, live);
  drey_part_t part{DREY_PART_SLAB,  run.start,    run.bytes,
                   run.block_bytes, run.capacity, live.count()};
  if (!walk.tell(part)) return false;
  part = {DREY_PART_BLOCK, nullptr, run.block_bytes, run.block_bytes, 1, 1};
  for (std::size_t index = live.find_first(true, 0); index != BlockSet::kNone;
       index = live.find_first(true, index + 1)) {
    part.start = run.start + index * run.block_bytes;
    if (!walk.tell(part)) return false;
  }
  return true;
}

bool walk_run(const RunView& run, const Walk& walk) noexcept {
  if (run.state == SlabState::kCached) {
    return walk.tell({DREY_PART_CACHED, run.start, run.bytes, 0, 0, 0});
  }
  const drey_part_kind_t kind = run.state == SlabState::kHuge ? DREY_PART_HUGE : DREY_PART_LARGE;
  return walk.tell({kind, run.start, run.bytes, run.bytes, 1, 1}) &&
         walk.tell({DREY_PART_BLOCK, run.start, run.bytes, run.bytes, 1, 1});
}
}  // namespace

bool walk_heap(drey_walk_scope_t scope, drey_walk_callback_t callback, void* argument) noexcept {
  const Walk walk{callback, argument};
  const Heap* const own = this_heap;
  RunCursor cursor;
  for (RunView run; cursor.next(run);) {
    if (scope == DREY_WALK_THREAD && (!run.is_slab() || run.owner != own)) continue;
    if (!(run.is_slab() ? walk_slab(run, scope, walk) : walk_run(run, walk))) return false;
  }
  return true;
}
}  // namespace drey::core
