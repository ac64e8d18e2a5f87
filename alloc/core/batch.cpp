// batch.cpp: see batch.hpp.
// SPDX-License-Identifier: MIT
#include "core/batch.hpp"

#include "core/entry.hpp"
#include "core/misuse.hpp"
#include "core/purge.hpp"
#include "core/remote_free.hpp"

namespace drey::core {
namespace {
/// Shorter chains for other threads' slabs wait in the outbox, with what else goes there.
constexpr std::ptrdiff_t kHandOverMin = 4;

/// Takes what the current slab of a class has at hand, at most `count`. Returns: how many.
[[nodiscard]] std::size_t take_at_hand(Heap& heap, SizeClass size_class, void** blocks,
                                       std::size_t count) noexcept {
  Slab* const slab = heap.current[index_of(size_class)];
  if (slab == &empty_slab) return 0;
  const BusyScope busy_scope(heap);
  std::size_t taken = 0;
  Block* block = slab->free;
  for (; block != nullptr && taken != count; block = next_of(block)) blocks[taken++] = block;
  slab->free = block;
  // Blocks that came home are warm: refill() takes those before anything untouched.
  // Relaxed: only a hint; the chain itself is taken in refill().
  if (taken < count && slab->remote.load(std::memory_order_relaxed) <= Slab::kAnnounced) {
    const std::size_t untouched = slab->capacity - slab->carved;
    const std::size_t carved = untouched < count - taken ? untouched : count - taken;
    std::byte* next = slab->start + std::size_t{slab->carved} * slab->block_bytes;
    for (std::size_t left = carved; left != 0; --left, next += slab->block_bytes) {
      blocks[taken++] = next;
    }
    slab->carved += static_cast<std::uint32_t>(carved);
  }
  return taken;
}

/// Fills the array from the class's slabs; `take_one` brings the next current slab along.
template <typename CurrentHeap, typename TakeOne>
[[nodiscard]] std::size_t take_from_slabs(CurrentHeap current_heap, TakeOne take_one,
                                          SizeClass size_class, void** blocks,
                                          std::size_t count) noexcept {
  std::size_t taken = 0;
  while (taken < count) {
    // Asked for anew each time: the first block of a thread brings its heap.
    taken += take_at_hand(current_heap(), size_class, blocks + taken, count - taken);
    if (taken == count) break;
    void* const block = take_one();
    if (block == nullptr) break;
    blocks[taken++] = block;
  }
  return taken;
}

template <typename TakeOne>
[[nodiscard]] std::size_t take_singly(TakeOne take_one, void** blocks, std::size_t count) noexcept {
  for (std::size_t taken = 0; taken < count; ++taken) {
    void* const block = take_one();
    if (block == nullptr) return taken;
    blocks[taken] = block;
  }
  return count;
}

/// Addresses that a slab's blocks can have.
struct SlabRange {
  explicit SlabRange(const Slab& slab) noexcept
      : start(address_of(slab.start)), bytes(std::size_t{slab.slice_count} * kSliceBytes) {}
  [[nodiscard]] bool covers(const void* pointer) const noexcept {
    return address_of(pointer) - start < bytes;
  }

  std::uintptr_t start;
  std::size_t bytes;
};

void take_back_chain(Slab* slab, Block* head, Block* tail, std::uint32_t count) noexcept {
  const bool is_current = slab->state == SlabState::kCurrent;
  if (!is_current && count > slab->live()) {
    return report_corruption("double free", head);  // not trusted: its blocks stay live
  }
  Heap& heap = *this_heap;
  const BusyScope busy_scope(heap);
  const bool reaches_zero = slab->countdown <= count;
  if (reaches_zero) run_due_ticks();  // before anything is given back: see purge.cpp
  heap.take_back(slab, head, tail, count);
  if (is_current) slab->countdown = reaches_zero ? Slab::kCurrentBias : slab->countdown - count;
  if (reaches_zero) trim_if_ticked(heap);
}

/// Gives back the blocks from `first` on that lie in `slab`, the calling thread's.
/// Returns: the place of the first that does not.
[[nodiscard]] void* const* give_back_own_run(Slab* slab, void* const* first,
                                             void* const* end) noexcept {
  const SlabRange range(*slab);
  Block* head = slab->free;
  bool twice = false;
  void* const* at = first;
  for (; at != end; ++at) {
    auto* const block = static_cast<Block*>(*at);
    if (!range.covers(block)) break;
    twice = block == head;  // in a row: it would link to itself
    if (twice) [[unlikely]]
      break;
    link(block, head);
    head = block;
  }
  const auto count = static_cast<std::uint32_t>(at - first);
  if (count != 0) take_back_chain(slab, head, static_cast<Block*>(*first), count);
  if (!twice) return at;
  report_double_free(*at);
  return at + 1;
}

/// The same for another heap's slab.
[[nodiscard]] void* const* give_back_remote_run(Slab* slab, void* const* first,
                                                void* const* end) noexcept {
  const SlabRange range(*slab);
  void* const* at = first;
  while (at != end && range.covers(*at) && slab->is_block_start(*at)) ++at;
  if (at - first < kHandOverMin) {
    give_back_slowly(*first);
    return first + 1;
  }
  Block* head = nullptr;
  for (void* const* linked = first; linked != at; ++linked) {
    auto* const block = static_cast<Block*>(*linked);
    if (block == head) {
      report_double_free(block);
      continue;
    }
    link(block, head);
    head = block;
  }
  hand_over(slab, head, static_cast<Block*>(*first));
  return at;
}
}  // namespace

std::size_t take_batch(std::size_t size, void** blocks, std::size_t count) noexcept {
  if (kSecure || size > kMediumSizeMax) {
    return take_singly([=] { return take(size); }, blocks, count);
  }
  const SizeClass size_class = class_of(size == 0 ? 1 : size);
  return take_from_slabs([]() -> Heap& { return *this_heap; },
                         [=] { return take_class(size_class); }, size_class, blocks, count);
}

std::size_t take_batch_private(PrivateHeap& heap, std::size_t size, void** blocks,
                               std::size_t count) noexcept {
  const auto take_one = [&heap, size] { return take_private(heap, size); };
  if (size > kMediumSizeMax) return take_singly(take_one, blocks, count);
  return take_from_slabs([&heap]() -> Heap& { return heap; }, take_one,
                         class_of(size == 0 ? 1 : size), blocks, count);
}

void give_back_batch(void* const* blocks, std::size_t count) noexcept {
  void* const* const end = blocks + count;
  for (void* const* at = blocks; at != end;) {
    Slab* const slab = slab_map.find_unchecked(*at);
    // Relaxed: see give_back(); another heap's is found to be one whatever is read.
    Heap* const owner = slab->owner.load(std::memory_order_relaxed);
    if (kSecure || owner == nullptr || slab->is_large_or_huge()) {
      give_back(*at++);
    } else if (owner == this_heap) {
      at = give_back_own_run(slab, at, end);
    } else {
      at = give_back_remote_run(slab, at, end);
    }
  }
}
}  // namespace drey::core
