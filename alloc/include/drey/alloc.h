/* alloc.h: the allocator under its own names, for C and C++, beside whatever malloc the process
 * has.
 *
 * Blocks from here go back here: drey_free, not free, unless drey is also the process's malloc
 * (libdrey.so preloaded, or drey::override linked), where both are the same.
 * Every function is safe in every thread, before main, in thread-exit destructors and after fork.
 * Failure is null and errno = ENOMEM; nothing aborts because memory ran out.
 * Read next: alloc.hpp.
 * SPDX-License-Identifier: MIT */
#ifndef DREY_ALLOC_H
#define DREY_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

#define DREY_EXPORT __attribute__((visibility("default")))

/* Takes a block of at least `size` bytes, 16-aligned; size 0 gives a unique block too. */
DREY_EXPORT void* drey_malloc(size_t size);
/* As drey_malloc(count * size), zeroed; an overflowing product is ENOMEM. */
DREY_EXPORT void* drey_calloc(size_t count, size_t size);
/* Moves or resizes; on failure the old block is untouched. Size 0 frees and returns null. */
DREY_EXPORT void* drey_realloc(void* pointer, size_t size);
DREY_EXPORT void* drey_reallocarray(void* pointer, size_t count, size_t size);
/* Alignment: any power of two (else null and EINVAL); size need not be a multiple of it. */
DREY_EXPORT void* drey_aligned_alloc(size_t alignment, size_t size);
/* As POSIX: returns EINVAL or ENOMEM and leaves *pointer and errno alone on failure. */
DREY_EXPORT int drey_posix_memalign(void** pointer, size_t alignment, size_t size);

/* As the GNU C library's: an alignment that is no power of two counts as the next one. */
DREY_EXPORT void* drey_memalign(size_t alignment, size_t size);
/* On a border of the kernel's pages; pvalloc: whole pages, at least one. */
DREY_EXPORT void* drey_valloc(size_t size);
DREY_EXPORT void* drey_pvalloc(size_t size);
/* drey_aligned_alloc(alignment, count * size), zeroed; an overflowing product is ENOMEM. */
DREY_EXPORT void* drey_aligned_calloc(size_t alignment, size_t count, size_t size);
/* As drey_realloc, the result a multiple of `alignment`, whatever the block's was. */
DREY_EXPORT void* drey_aligned_realloc(void* pointer, size_t alignment, size_t size);
/* Makes a block at least `size` bytes long without moving it. False: it could not, and nothing has
 * changed; errno is kept. Never shrinks. */
DREY_EXPORT bool drey_expand(void* pointer, size_t size);

/* Takes `count` blocks of at least `size` bytes each into blocks[0 ...], for less than `count` calls
 * of drey_malloc. Returns how many it took: fewer than `count` only where memory ran out (errno =
 * ENOMEM); the rest of the array is untouched then, and what was taken is the caller's. */
DREY_EXPORT size_t drey_malloc_batch(size_t size, void** blocks, size_t count);
/* Gives `count` blocks back, of any sizes, taken by any function and thread; null is skipped.
 * Cheapest where neighbours in the array were taken one after the other. The array is unchanged. */
DREY_EXPORT void drey_free_batch(void* const* blocks, size_t count);

/* Gives a block back; null does nothing; errno is kept. The sized forms take the size as a hint. */
DREY_EXPORT void drey_free(void* pointer);
DREY_EXPORT void drey_free_sized(void* pointer, size_t size);
DREY_EXPORT void drey_free_aligned_sized(void* pointer, size_t alignment, size_t size);

/* Bytes that may be used of a block: >= what was asked, the same each time; 0 for null. */
DREY_EXPORT size_t drey_usable_size(const void* pointer);
/* What drey_usable_size would say of a block of `size` bytes. */
DREY_EXPORT size_t drey_good_size(size_t size);
/* True if `pointer` is a block of drey's (its first byte). Never reads the memory there. */
DREY_EXPORT bool drey_owns(const void* pointer);

/* Gives idle memory back to the system now instead of after purge_delay_ms. */
DREY_EXPORT void drey_collect(void);

/* "0.1.0" */
DREY_EXPORT const char* drey_version(void);

/* Bytes unless the name says otherwise. A snapshot of counters, not of one instant. */
/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_stats_t {
  size_t reserved_bytes;       /* address space held */
  size_t committed_bytes;      /* of that, readable and writable */
  size_t slab_bytes;           /* in slabs, blocks live or not */
  size_t large_bytes;          /* in large and huge blocks */
  size_t idle_bytes;           /* in the store, not yet given back */
  uint64_t purged_bytes;       /* given back to the system since the start */
  uint64_t heap_count;         /* heaps ever made, private ones too; reused */
  uint64_t orphan_count;       /* of those, without a thread now */
  uint64_t adopted_count;      /* orphans taken over by new threads */
  uint64_t remote_chain_count; /* hand-overs of frees to other threads' slabs */
  uint64_t system_call_count;  /* mmap, munmap, mremap, madvise, mprotect */
  size_t live_bytes;           /* in blocks handed out, of any size */
  size_t free_slab_bytes;      /* of slab_bytes, not in such blocks: room and rounding */
  size_t cached_bytes;         /* of idle_bytes, in threads' caches of large runs */
  size_t metadata_bytes;       /* of committed_bytes, drey's own */
  uint64_t
      live_block_count; /* blocks handed out; freed by another thread: until it is taken back */
  uint64_t slab_count;
  uint64_t large_block_count; /* above 1 MiB, on slices of a segment */
  uint64_t huge_block_count;  /* on mappings of their own */
} drey_stats_t;
DREY_EXPORT void drey_stats_read(drey_stats_t* stats);
/* Text to standard error. Allocates nothing. */
DREY_EXPORT void drey_stats_print(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
