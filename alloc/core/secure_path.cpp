// secure_path.cpp: see secure_path.hpp.
// Read next: block_tail.hpp, quarantine.hpp, guarded.hpp, empty_blocks.hpp.
// SPDX-License-Identifier: MIT
#include "core/secure_path.hpp"

#include "core/block_tail.hpp"
#include "core/empty_blocks.hpp"
#include "core/entry.hpp"
#include "core/large.hpp"
#include "core/misuse.hpp"
#include "core/remote_free.hpp"

#include <cerrno>

namespace drey::core {
namespace {
/// Longest block in a slab; a longer one has a mapping of its own.
constexpr std::size_t kSlabSizeMax = kSharedSlabBlockMax - kTailBytes;
static_assert(kSharedSlabBlockMax - 1 <= UINT16_MAX, "an entry holds any slack");

static_assert(kMinAlignmentBytes == 1U << 4);
[[nodiscard, gnu::always_inline]] inline BlockEntry& entry_of(const Slab* slab,
                                                              const void* pointer) noexcept {
  // Signed: what lies before `start` is the slab's too.
  const auto offset = static_cast<std::ptrdiff_t>(address_of(pointer) - address_of(slab->start));
  return slab->entries[offset >> 4];
}

/// The live block's slack; kNobodys or kQuarantined where `pointer` is none.
[[nodiscard, gnu::always_inline]] inline std::uint16_t slack_of(const Slab* slab,
                                                                const void* pointer) noexcept {
  if (!is_aligned(pointer, kMinAlignmentBytes)) [[unlikely]]
    return kNobodys;
  return entry_of(slab, pointer).load(std::memory_order_relaxed);
}

/// Makes a block just taken off its list the caller's. It is zero, and stays so but for the tail.
[[gnu::always_inline]] inline void* hand_out(Slab* slab, Block* block, std::size_t size) noexcept {
  BlockEntry& entry = entry_of(slab, block);
  if (entry.load(std::memory_order_relaxed) != kNobodys) [[unlikely]] {
    report_finding("free list", block, "is in a list, and not free");
    return nullptr;
  }
  const std::size_t slack = slab->block_bytes - size;
  entry.store(static_cast<std::uint16_t>(slack), std::memory_order_relaxed);
  write_tail(reinterpret_cast<std::byte*>(block), slab->block_bytes, slack);
  return block;
}

[[nodiscard, gnu::always_inline]] inline Block* unlink_first(Slab* slab) noexcept {
  Block* const block = slab->free;
  slab->free = slab->next_in_list(block);
  block->next = nullptr;
  // A free block is zero but for its link; its second word stands for all.
  if (load_word(reinterpret_cast<const std::byte*>(block) + sizeof(Block)) != 0) [[unlikely]] {
    report_broken_link(block);
    return nullptr;
  }
  return block;
}

[[gnu::noinline]] void* refill_and_hand_out(SizeClass size_class, std::size_t size) noexcept {
  auto* const block = static_cast<Block*>(refill(size_class));
  return block == nullptr ? nullptr : hand_out(slab_map.find(block), block, size);
}

[[nodiscard, gnu::always_inline]] inline void* take_of(SizeClass size_class,
                                                       std::size_t size) noexcept {
  Slab* const slab = this_heap->current[index_of(size_class)];
  if (slab->free == nullptr) [[unlikely]]
    return refill_and_hand_out(size_class, size);
  Block* const block = unlink_first(slab);
  return block == nullptr ? nullptr : hand_out(slab, block, size);
}

/// No bytes at all, or more than a slab's block has.
[[gnu::noinline]] void* take_odd(std::size_t size) noexcept {
  void* block = nullptr;
  if (size == 0) {
    static_cast<void>(ensure_heap());  // opens the slab map
    block = take_empty_block();
  } else if (size <= kSizeMax) {
    block = take_large(size, kMinAlignmentBytes).pointer;
  }
  if (block == nullptr) errno = ENOMEM;
  return block;
}

[[gnu::cold, gnu::noinline]] void report_bad_free(const Slab* slab, const void* pointer) noexcept {
  const bool was_block = slab->is_block_start(pointer);
  report_misuse(was_block ? "double free" : "invalid free", pointer);
}

/// Ends a block's life: checked, wiped, quarantined. Fails: false, after a report.
/// `by_owner`: the slab is this thread's. Else two threads may be at it, and one must lose.
template <bool by_owner>
[[nodiscard, gnu::always_inline]] inline bool retire(const Slab* slab, void* pointer) noexcept {
  std::uint16_t slack = slack_of(slab, pointer);
  if (slack <= kQuarantined) [[unlikely]] {
    report_bad_free(slab, pointer);
    return false;
  }
  auto* const block = static_cast<std::byte*>(pointer);
  const std::size_t bytes = slab->block_bytes;
  if (!tail_is_intact(block, bytes, slack)) [[unlikely]] {
    report_finding("overflow", pointer, "was written to past its end");
    return false;
  }
  if (!front_is_intact(block, bytes)) [[unlikely]] {
    report_finding("underflow", pointer,
                   "was written to before its start, or its neighbour past its end");
    return false;
  }
  BlockEntry& entry = entry_of(slab, pointer);
  if constexpr (by_owner) {
    entry.store(kQuarantined, std::memory_order_relaxed);
  } else if (!entry.compare_exchange_strong(slack, kQuarantined, std::memory_order_relaxed)) {
    report_bad_free(slab, pointer);
    return false;
  }
  wipe(block, bytes, slack);
  return true;
}

/// Puts a block whose quarantine is over into its slab's list, here or with another thread.
[[gnu::always_inline]] inline void send_home(void* pointer) noexcept {
  Slab* slab = slab_map.find_unchecked(pointer);
  bool is_own = slab->owner.load(std::memory_order_relaxed) == this_heap;
  if (!is_own) [[unlikely]] {
    slab = slab_map.find(pointer);  // the map may not be flat
    is_own = slab->owner.load(std::memory_order_relaxed) == this_heap;
  }
  BlockEntry& entry = entry_of(slab, pointer);
  // Two threads that freed it in the same nanoseconds: the second to come by here finds it.
  if (entry.load(std::memory_order_relaxed) != kQuarantined) [[unlikely]] {
    return report_bad_free(slab, pointer);
  }
  // A free block is zero; its first 16 bytes stand for all.
  const auto* const block = static_cast<const std::byte*>(pointer);
  if ((load_word(block) | load_word(block + 8)) != 0) [[unlikely]] {
    return report_broken_link(static_cast<const Block*>(pointer));
  }
  entry.store(kNobodys, std::memory_order_relaxed);
  if (is_own) [[likely]]
    return give_back_own(slab, pointer);
  give_back_remotely(slab, pointer);
}

[[gnu::always_inline]] inline void quarantine(Heap& heap, const Slab* slab,
                                              void* pointer) noexcept {
  void* const released = heap.quarantine.put(pointer, slab->block_bytes);
  if (released != nullptr) [[likely]]
    send_home(released);
}

[[gnu::noinline]] void give_back_odd(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Slab* const slab = slab_map.find(pointer);
  if (slab == nullptr) return give_back_foreign(pointer);
  if (slab->state == SlabState::kEmpty) {
    if (!give_back_empty_block(slab, pointer)) report_misuse("double free", pointer);
    return;
  }
  if (slab->is_large_or_huge()) return give_back_large(slab, pointer);
  if (!retire<false>(slab, pointer)) return;
  Heap* const heap = ensure_heap();
  if (heap != nullptr) return quarantine(*heap, slab, pointer);
  entry_of(slab, pointer).store(kNobodys, std::memory_order_relaxed);
  give_back_remotely(slab, pointer);
}

/// Bytes the live block was asked for. Fails: SIZE_MAX; it is none.
[[nodiscard]] std::size_t requested_bytes(const Slab* slab, const void* pointer) noexcept {
  if (slab->state == SlabState::kEmpty) return is_empty_block(slab, pointer) ? 0 : SIZE_MAX;
  if (slab->is_large_or_huge()) return pointer == slab->start ? slab->run_bytes : SIZE_MAX;
  const std::uint16_t slack = slack_of(slab, pointer);
  return slack <= kQuarantined ? SIZE_MAX : slab->block_bytes - slack;
}

/// Resizes within the block. Fails: false; another class suits the size better.
[[nodiscard]] bool resize_in_place(Slab* slab, void* pointer, std::size_t old_size,
                                   std::size_t size) noexcept {
  if (slab->is_large_or_huge()) return size > kSlabSizeMax && resize_large(slab, size) != nullptr;
  const std::size_t bytes = slab->block_bytes;
  if (size > kSlabSizeMax || size + kTailBytes > bytes) return false;
  if (size < bytes / 2 && size < old_size && bytes > 4 * kMinAlignmentBytes) return false;
  auto* const block = static_cast<std::byte*>(pointer);
  // Zero up to where the canary begins: what shrinks away, and the old fill.
  const std::size_t from = size < old_size ? size : old_size;
  const std::size_t to =
      old_size + kTailBytes < bytes - kTailBytes ? old_size + kTailBytes : bytes - kTailBytes;
  if (from < to) std::memset(block + from, 0, to - from);
  entry_of(slab, pointer)
      .store(static_cast<std::uint16_t>(bytes - size), std::memory_order_relaxed);
  write_tail(block, bytes, bytes - size);
  return true;
}
}  // namespace

Block* unlink_checked(Slab* slab) noexcept {
  return unlink_first(slab);
}

void* take_checked(std::size_t size) noexcept {
  if (size - 1 >= kSlabSizeMax) [[unlikely]]
    return take_odd(size);
  return take_of(class_of(size + kTailBytes), size);
}

void* take_aligned_checked(std::size_t alignment, std::size_t size) noexcept {
  if (size > kSizeMax || alignment > kSizeMax) return nullptr;
  if (alignment <= kMinAlignmentBytes) return take_checked(size);
  if (size == 0) size = 1;
  const SizeClass size_class = aligned_class_of(size + kTailBytes, alignment);
  if (size_class != SizeClass{0} && size_of(size_class) <= kSharedSlabBlockMax) {
    return take_of(size_class, size);
  }
  return take_large(size, alignment).pointer;
}

void give_back_checked(void* pointer) noexcept {
  Slab* const slab = slab_map.find_unchecked(pointer);
  Heap* const heap = this_heap;
  // Relaxed: only this thread can have made it this_heap, or unmake it.
  if (slab->owner.load(std::memory_order_relaxed) != heap) [[unlikely]] {
    return give_back_odd(pointer);
  }
  if (retire<true>(slab, pointer)) [[likely]]
    quarantine(*heap, slab, pointer);
}

void* reallocate_checked(void* pointer, std::size_t size) noexcept {
  Slab* const slab = slab_map.find(pointer);
  if (slab == nullptr) return reallocate_foreign(pointer, size);
  const std::size_t old_size = requested_bytes(slab, pointer);
  if (old_size == SIZE_MAX) {
    report_misuse("realloc of invalid pointer", pointer);
    return nullptr;
  }
  if (size > kSizeMax) return nullptr;
  if (!slab->is_large_or_huge() &&
      !tail_is_intact(static_cast<std::byte*>(pointer), slab->block_bytes,
                      slab->block_bytes - old_size)) {
    report_finding("overflow", pointer, "was written to past its end");
    return nullptr;
  }
  if (old_size != 0 && resize_in_place(slab, pointer, old_size, size)) return pointer;
  void* const moved =
      size > old_size && size > kSlabSizeMax ? take_growing(size) : take_checked(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, pointer, size < old_size ? size : old_size);
  give_back_checked(pointer);
  return moved;
}

std::size_t usable_bytes_checked(const void* pointer) noexcept {
  const Slab* const slab = slab_map.find(pointer);
  if (slab == nullptr) return 0;
  const std::size_t bytes = requested_bytes(slab, pointer);
  if (bytes != SIZE_MAX) return bytes;
  report_misuse("usable size of invalid pointer", pointer);
  return 0;
}

bool owns_checked(const void* pointer) noexcept {
  const Slab* const slab = slab_map.find(pointer);
  return slab != nullptr && requested_bytes(slab, pointer) != SIZE_MAX;
}

void report_wrong_size(const void* pointer, std::size_t size) noexcept {
  const Slab* const slab = pointer == nullptr ? nullptr : slab_map.find(pointer);
  if (slab == nullptr) return;
  const std::size_t bytes = requested_bytes(slab, pointer);
  if (bytes == SIZE_MAX || bytes == size) return;  // the free itself finds what is no block
  report_finding("wrong size", pointer, "is given back with a size it was not asked for with");
}

void flush_quarantine(Heap& heap) noexcept {
  heap.quarantine.flush([](void* block) noexcept { send_home(block); });
}
}  // namespace drey::core
