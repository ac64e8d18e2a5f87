// heap.hpp: a heap of a program's own, as an object: it frees all that was taken from it at its end.
//
// Contract and thread rules: heap.h. Null on failure, noexcept. No destructor of what lies in the
// blocks is run: that is for who put it there.
// Read next: memory_resource.hpp, for standard containers in a heap.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/heap.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace drey {
using HeapStats = drey_heap_stats_t;

/// Owns a drey_heap_t. Threads: one at a time, but for deallocation with drey::deallocate().
class Heap {
 public:
  /// Fails: an empty heap object, false as a bool, that gives null.
  Heap() noexcept : heap_(drey_heap_create()) {}
  ~Heap() { drey_heap_destroy(heap_); }
  Heap(Heap&& other) noexcept : heap_(std::exchange(other.heap_, nullptr)) {}
  Heap& operator=(Heap&& other) noexcept {
    if (this != &other)
      drey_heap_destroy(std::exchange(heap_, std::exchange(other.heap_, nullptr)));
    return *this;
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// False where there was no memory for a heap, and after a move.
  [[nodiscard]] explicit operator bool() const noexcept { return heap_ != nullptr; }

  /// Takes a block of at least `bytes`, 16-aligned. Fails: null.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept {
    return heap_ == nullptr ? nullptr : drey_heap_malloc(heap_, bytes);
  }
  /// The same on a multiple of a power of two.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    return heap_ == nullptr ? nullptr : drey_heap_aligned_alloc(heap_, alignment, bytes);
  }
  [[nodiscard]] void* allocate_zeroed(std::size_t bytes) noexcept {
    return heap_ == nullptr ? nullptr : drey_heap_calloc(heap_, 1, bytes);
  }
  /// Resizes a block of this heap. Fails: null; the block is untouched.
  [[nodiscard]] void* reallocate(void* pointer, std::size_t bytes) noexcept {
    return heap_ == nullptr ? nullptr : drey_heap_realloc(heap_, pointer, bytes);
  }
  /// Gives one block back. Other threads use drey::deallocate().
  void deallocate(void* pointer) noexcept {
    if (heap_ != nullptr) drey_heap_free(heap_, pointer);
  }

  /// Frees every block; the heap can be used on. See heap.h for what other threads must not do.
  void free_all() noexcept {
    if (heap_ != nullptr) drey_heap_free_all(heap_);
  }
  /// Gives empty slabs back to the process.
  void collect() noexcept {
    if (heap_ != nullptr) drey_heap_collect(heap_);
  }

  [[nodiscard]] bool owns(const void* pointer) const noexcept {
    return heap_ != nullptr && drey_heap_owns(heap_, pointer);
  }

  /// Cost: a visit of each slab and each large block.
  [[nodiscard]] HeapStats statistics() noexcept {
    HeapStats stats{};
    if (heap_ != nullptr) drey_heap_stats_read(heap_, &stats);
    return stats;
  }

  /// Calls visitor(void* block, std::size_t usable_bytes) once for each live block, in no
  /// particular order. Requires: see drey_heap_walk; visitor is noexcept.
  template <typename Visitor>
  void for_each_block(Visitor&& visitor) noexcept {
    static_assert(std::is_nothrow_invocable_v<Visitor&, void*, std::size_t>);
    if (heap_ == nullptr) return;
    const auto visit = [](void* block, std::size_t bytes, void* context) {
      (*static_cast<std::remove_reference_t<Visitor>*>(context))(block, bytes);
      return true;
    };
    drey_heap_walk(heap_, visit, const_cast<void*>(static_cast<const void*>(&visitor)));
  }

  /// For the functions of heap.h; null for an empty one.
  [[nodiscard]] drey_heap_t* native_handle() const noexcept { return heap_; }

 private:
  drey_heap_t* heap_;
};
}  // namespace drey
