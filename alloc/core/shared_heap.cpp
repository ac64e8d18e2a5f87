// shared_heap.cpp: see shared_heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/shared_heap.hpp"

#include "core/fast_path.hpp"
#include "core/process.hpp"

#include <cstring>

namespace drey::core {
namespace {
constinit os::Lock shared_lock;
constinit Heap shared_heap{};

/// The class of the block that is borrowed for one of this class: slabs start on slices, so blocks of
/// whole cache lines start on one.
[[nodiscard]] SizeClass lined_class_of(SizeClass size_class) noexcept {
  return small_class_of(align_up(size_of(size_class), kCacheLineBytes));
}
}  // namespace

Heap& acquire_shared_heap() noexcept {
  start_process();
  shared_lock.acquire();
  shared_heap.state.store(HeapState::kShared, std::memory_order_relaxed);
  return shared_heap;
}

void release_shared_heap() noexcept {
  shared_lock.release();
}

void serve_shared_heap() noexcept {
  if (!shared_lock.try_acquire()) return;
  {
    const BusyScope busy_scope(shared_heap);
    shared_heap.serve_announcements();
    shared_heap.trim();
  }
  shared_lock.release();
}

const Heap& shared_heap_to_count() noexcept {
  return shared_heap;
}

os::Lock& shared_heap_lock() noexcept {
  return shared_lock;
}

void* borrow_block(Heap& heap, SizeClass size_class) noexcept {
  DREY_ASSERT(may_borrow(heap, size_class));
  const SizeClass lined_class = lined_class_of(size_class);
  void* const block = refill_held(acquire_shared_heap(), lined_class).pointer;
  release_shared_heap();
  if (block == nullptr) return nullptr;
  --heap.borrows_left[lines_of(size_class)];
  const std::size_t bytes = size_of(size_class);
  std::memset(static_cast<std::byte*>(block) + bytes, 0, size_of(lined_class) - bytes);
  return block;
}
}  // namespace drey::core
