// api_heap.cpp: the functions of drey/alloc/heap.h: one line each on the core, with the limits that
// core/contract.hpp keeps for malloc's family. Nothing here holds state.
// Read next: core/private_heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/batch.hpp"
#include "core/contract.hpp"
#include "core/private_heap.hpp"

#include <drey/alloc/heap.h>

#include <cstddef>

namespace core = drey::core;
namespace contract = drey::core::contract;

namespace {
core::PrivateHeap& heap_of(drey_heap_t* heap) {
  return *reinterpret_cast<core::PrivateHeap*>(heap);
}
}  // namespace

extern "C" {
drey_heap_t* drey_heap_create(void) {
  core::PrivateHeap* const heap = core::make_private_heap();
  if (heap == nullptr) return static_cast<drey_heap_t*>(contract::fail(ENOMEM));
  return reinterpret_cast<drey_heap_t*>(heap);
}

void drey_heap_destroy(drey_heap_t* heap) {
  if (heap != nullptr) core::destroy_private_heap(heap_of(heap));
}

void drey_heap_free_all(drey_heap_t* heap) {
  core::free_all(heap_of(heap));
}

void* drey_heap_malloc(drey_heap_t* heap, size_t size) {
  return core::take_private(heap_of(heap), size);
}

void* drey_heap_calloc(drey_heap_t* heap, size_t count, size_t size) {
  return core::take_private_zeroed(heap_of(heap), contract::saturating_product(count, size));
}

void* drey_heap_aligned_alloc(drey_heap_t* heap, size_t alignment, size_t size) {
  if (!contract::is_alignment(alignment)) return contract::fail(EINVAL);
  return core::take_private_aligned(heap_of(heap), alignment, size);
}

void* drey_heap_realloc(drey_heap_t* heap, void* pointer, size_t size) {
  if (pointer == nullptr) return core::take_private(heap_of(heap), size);
  if (size == 0) {
    core::give_back_private(heap_of(heap), pointer);
    return nullptr;
  }
  return core::resize_private(heap_of(heap), pointer, size);
}

size_t drey_heap_malloc_batch(drey_heap_t* heap, size_t size, void** blocks, size_t count) {
  return core::take_batch_private(heap_of(heap), size, blocks, count);
}

void drey_heap_free(drey_heap_t* heap, void* pointer) {
  core::give_back_private(heap_of(heap), pointer);
}

bool drey_heap_owns(const drey_heap_t* heap, const void* pointer) {
  return core::is_of_private(*reinterpret_cast<const core::PrivateHeap*>(heap), pointer);
}

void drey_heap_collect(drey_heap_t* heap) {
  core::collect_private(heap_of(heap));
}

void drey_heap_stats_read(drey_heap_t* heap, drey_heap_stats_t* stats) {
  const core::PrivateHeapCounts counts = core::count_private(heap_of(heap));
  *stats = {counts.slab_count,  counts.slab_bytes,  counts.large_count,
            counts.large_bytes, counts.live_blocks, counts.live_bytes};
}

bool drey_heap_walk(drey_heap_t* heap, drey_block_visitor_t visitor, void* context) {
  return core::walk_private(heap_of(heap), visitor, context);
}
}  // extern "C"
