/* heap.h: heaps of a program's own: allocate in one, free all of it at once.
 *
 * Threads: one at a time uses a heap, the one that holds it. Nothing binds a heap to a thread:
 * hand it on by whatever orders the two threads (a lock, a join, an atomic); it outlives the thread
 * that made it. Any thread may free single blocks with drey_free at any time, also while the holder
 * allocates; but drey_heap_free_all and drey_heap_destroy need every such call to have returned,
 * and nobody to use a block afterwards. After fork, the child may use the heaps that the forking
 * thread could use; one that another thread was changing at that moment gives null there.
 * Errors: null and errno = ENOMEM; a call on a destroyed heap is reported as misuse.
 * Read next: heap.hpp for C++.
 * SPDX-License-Identifier: MIT */
#ifndef DREY_ALLOC_HEAP_H
#define DREY_ALLOC_HEAP_H

#include <drey/alloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_heap_t drey_heap_t;

/* Makes an empty heap. Cost: about 3 KiB of memory, used again after drey_heap_destroy. */
DREY_EXPORT drey_heap_t* drey_heap_create(void);
/* Frees every block in it, live or not, and the heap; null does nothing. Cost: per 64 KiB of small
 * blocks, per large block; not per block. */
DREY_EXPORT void drey_heap_destroy(drey_heap_t* heap);
/* The same, but the heap stays, with up to 64 KiB of each small size to begin again with. */
DREY_EXPORT void drey_heap_free_all(drey_heap_t* heap);

/* As drey_malloc and its family, from `heap`. Blocks go back singly with drey_free, or with
 * drey_heap_free, which is faster and for the holder only. */
DREY_EXPORT void* drey_heap_malloc(drey_heap_t* heap, size_t size);
DREY_EXPORT void* drey_heap_calloc(drey_heap_t* heap, size_t count, size_t size);
DREY_EXPORT void* drey_heap_aligned_alloc(drey_heap_t* heap, size_t alignment, size_t size);
/* Of a block of `heap`; the result is one too. (drey_realloc may move a block out of its heap.) */
DREY_EXPORT void* drey_heap_realloc(drey_heap_t* heap, void* pointer, size_t size);
/* As drey_malloc_batch, from `heap`. */
DREY_EXPORT size_t drey_heap_malloc_batch(drey_heap_t* heap, size_t size, void** blocks,
                                          size_t count);
DREY_EXPORT void drey_heap_free(drey_heap_t* heap, void* pointer);

/* True if `pointer` is a block of `heap` (its first byte). */
DREY_EXPORT bool drey_heap_owns(const drey_heap_t* heap, const void* pointer);
/* Takes in what other threads have freed, and gives empty slabs back to the process. */
DREY_EXPORT void drey_heap_collect(drey_heap_t* heap);

/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_heap_stats_t {
  size_t slab_count;  /* slabs */
  size_t slab_bytes;  /* in them, blocks live or not */
  size_t large_count; /* blocks above 1 MiB */
  size_t large_bytes; /* in them */
  size_t live_blocks; /* taken and not freed, large ones included */
  size_t live_bytes;  /* in them, as drey_usable_size says */
} drey_heap_stats_t;
/* Cost: a visit of each slab and each large block. */
DREY_EXPORT void drey_heap_stats_read(drey_heap_t* heap, drey_heap_stats_t* stats);

/* Calls `visitor` once for each live block until it returns false; returns false then. The visitor
 * may neither take from the heap nor free in it; no other thread may free in it meanwhile. */
/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef bool (*drey_block_visitor_t)(void* block, size_t usable_size, void* context);
DREY_EXPORT bool drey_heap_walk(drey_heap_t* heap, drey_block_visitor_t visitor, void* context);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
