// test_heap.hpp: threads of a test, played by hand or real, and heaps of a test's own.
//
// TestHeap is a heap that the process's lists do not know; Acting makes the calling thread use it,
// so one thread can play several, step by step. A real thread in a test must end through
// run_as_thread(), since the fake system calls the exit hook only when told.
// Read next: fake_os.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/entry.hpp"
#include "core/heap.hpp"
#include "core/process.hpp"
#include "core/thread_heap.hpp"
#include "support/fake_os.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace drey::core {
/// A heap in state kOwned. Requires: at its end no slab of it has live blocks.
class TestHeap {
 public:
  TestHeap() : heap_(std::make_unique<Heap>()) {
    start_process();  // as ensure_heap() does for a thread's heap
    heap_->state = HeapState::kOwned;
  }
  ~TestHeap() {
    heap_->serve_announcements();
    for (std::size_t index = 1; index < kClassCount; ++index) {
      heap_->park_current(static_cast<SizeClass>(index));
    }
    heap_->release_empty_slabs();
    DREY_CHECK(heap_->slab_bytes.value() == 0, "a test left blocks in its heap");
  }
  TestHeap(const TestHeap&) = delete;
  TestHeap& operator=(const TestHeap&) = delete;

  Heap& operator*() noexcept { return *heap_; }
  Heap* operator->() noexcept { return heap_.get(); }
  Heap* get() noexcept { return heap_.get(); }

 private:
  std::unique_ptr<Heap> heap_;
};

/// Makes `heap` the calling thread's for a scope.
class Acting {
 public:
  explicit Acting(Heap* heap) noexcept : former_(std::exchange(this_heap, heap)) {}
  ~Acting() { this_heap = former_; }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

 private:
  Heap* former_;
};

/// Gives the calling thread slabs of its own from the first block on, as the process's first thread has
/// them: tests of slabs do not depend on which thread came first.
inline void borrow_nothing() {
  Heap* const heap = ensure_heap();
  if (heap == nullptr) return;
  for (std::uint8_t& left : heap->borrows_left) left = 0;
}

/// Plays a thread from birth to end on the calling thread: `act`, then the exit hook. Nothing runs
/// beside it.
template <typename Action>
void play_thread(Action act) {
  const Acting acting(&empty_heap);
  borrow_nothing();
  act();
  fake_os::end_this_thread();
}

/// Runs `act` in a thread of its own to its end, the exit hook included.
template <typename Action>
void run_as_thread(Action act) {
  std::thread([&] {
    act();
    fake_os::end_this_thread();
  }).join();
}

/// Takes `count` blocks; aborts where memory runs out.
[[nodiscard]] inline std::vector<void*> take_blocks(std::size_t count, std::size_t size) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) {
    block = allocate(size);
    DREY_CHECK(block != nullptr, "a test ran out of memory");
  }
  return blocks;
}

inline void give_back_blocks(const std::vector<void*>& blocks) noexcept {
  for (void* const block : blocks) deallocate(block);
}

/// Slabs in a heap's announce stack.
[[nodiscard]] inline std::vector<Slab*> announced_slabs(const Heap& heap) {
  std::vector<Slab*> slabs;
  for (Slab* slab = heap.announced.load(); slab != nullptr; slab = slab->announce_next.load()) {
    slabs.push_back(slab);
  }
  return slabs;
}

/// Slabs in a heap's queue of a class, front first.
[[nodiscard]] inline std::vector<Slab*> queued_slabs(const Heap& heap, SizeClass size_class) {
  std::vector<Slab*> slabs;
  for (Slab* slab = heap.with_room[index_of(size_class)]; slab != nullptr; slab = slab->next) {
    slabs.push_back(slab);
  }
  return slabs;
}
}  // namespace drey::core
