/* observe.h: what the allocator is doing, and what it may be told: options by name, statistics, a walk
 * over the heap, a sampling profile, what is still live. For C and C++.
 *
 * Nothing here costs malloc or free anything while it is not used, and nothing here allocates.
 * Texts are written as snprintf does: cut to `size`, ended by a NUL, and the whole length returned, so
 * that a first call with a null buffer and size 0 tells how much room a second needs.
 * Read next: alloc.h, observe.hpp.
 * SPDX-License-Identifier: MIT */
#ifndef DREY_OBSERVE_H
#define DREY_OBSERVE_H

#include <drey/alloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Options ---
 * Names are those of the table that `drey-run --help` prints, with or without DREY_ in front. */

/* Sets an option from text, from now on. Returns: 0; ENOENT: no such option; EINVAL: no value of it. */
DREY_EXPORT int drey_option_set(const char* name, const char* value);

/* Writes the value in force as text. Returns: its length; 0 also for a name that is no option. */
DREY_EXPORT size_t drey_option_get(const char* name, char* value, size_t size);

/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_option_t {
  const char* name;     /* "purge_delay_ms" */
  const char* kind;     /* "integer", "bytes", "bool", "choice" or "path" */
  const char* unit;     /* of a number: "ms"; of a choice its words: "abort|warn" */
  const char* sentence; /* what it does */
  int64_t minimum;      /* of numbers */
  int64_t maximum;
  int64_t fallback; /* the default; of a choice the index of its word; a path has none */
} drey_option_t;
/* The index-th row of the table. Returns: false past the last. */
DREY_EXPORT bool drey_option_at(size_t index, drey_option_t* option);

/* The whole table as text: what `drey-run --help` prints. */
DREY_EXPORT size_t drey_options_text(char* buffer, size_t size);

/* --- Statistics ---
 * drey_stats_read and drey_stats_print are in alloc.h. Figures of slabs that other threads use
 * meanwhile are of about now; at quiet points all are exact, but that blocks freed by a thread other
 * than their slab's count as live until its thread takes them back. */

/* One JSON object: every counter, and a member "classes" with one object a size class in use. */
DREY_EXPORT size_t drey_stats_json(char* buffer, size_t size);
/* What drey_stats_print prints. */
DREY_EXPORT size_t drey_stats_text(char* buffer, size_t size);
/* A line a size class: slabs, live and free blocks and bytes, how much of the slabs is not used. */
DREY_EXPORT size_t drey_stats_map(char* buffer, size_t size);

/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_class_stats_t {
  size_t block_bytes;
  size_t slab_count;
  size_t slab_bytes;
  size_t live_blocks;
  size_t free_blocks;
  size_t live_bytes;
  size_t free_bytes; /* slab_bytes - live_bytes */
} drey_class_stats_t;
/* Fills up to `count` rows, smallest blocks first, of classes that have slabs.
 * Returns: how many classes have. */
DREY_EXPORT size_t drey_stats_classes(drey_class_stats_t* classes, size_t count);

/* --- Heap walk --- */

/* NOLINTBEGIN(readability-identifier-naming): C names. */
typedef enum drey_walk_scope_t {
  DREY_WALK_THREAD = 0, /* the calling thread's slabs: at any time */
  DREY_WALK_PROCESS = 1 /* everything: only while no other thread allocates or frees */
} drey_walk_scope_t;

typedef enum drey_part_kind_t {
  DREY_PART_SLAB = 1,   /* equal blocks; its live ones follow */
  DREY_PART_LARGE = 2,  /* one block on slices of a segment, which follows */
  DREY_PART_HUGE = 3,   /* one block on a mapping of its own, which follows */
  DREY_PART_CACHED = 4, /* slices of a large block that was freed, kept for the next */
  DREY_PART_BLOCK = 5   /* a live block */
} drey_part_kind_t;
/* NOLINTEND(readability-identifier-naming) */

/* NOLINTNEXTLINE(readability-identifier-naming): a C name. */
typedef struct drey_part_t {
  drey_part_kind_t kind;
  const void* start;
  size_t bytes;       /* of a block: usable ones */
  size_t block_bytes; /* of a slab's blocks */
  size_t capacity;    /* blocks it has room for */
  size_t live_blocks;
} drey_part_t;

/* Returns: false to end the walk. May allocate and free; no lock is held. */
typedef bool (*drey_walk_callback_t)(const drey_part_t* part, void* argument);

/* Tells of each part and each live block. Large and huge blocks belong to no thread: they are in the
 * walk of the process only. Returns: false if the callback ended it, or is null. */
DREY_EXPORT bool drey_walk(drey_walk_scope_t scope, drey_walk_callback_t callback, void* argument);

/* --- Profile ---
 * A sample of all blocks, one in about profile_interval bytes, each with the stack that took it. The
 * calling thread takes part at once, others from their next slow path. DREY_PROFILE=FILE turns it on
 * from the start and writes FILE at exit. Not sampled: blocks taken before the library's constructor,
 * by threads past their end, and those up to 1 MiB of the program's own heaps. */

/* Begins or goes on. Returns: false if stacks cannot be had (no unwinder): sizes are sampled then. */
DREY_EXPORT bool drey_profile_start(void);
/* Ends it; blocks sampled so far stay in the profile until they are freed. */
DREY_EXPORT void drey_profile_stop(void);
/* Writes what has been sampled, in the format of pprof's heap profiles: live blocks and all there
 * were. "%p" in the path becomes the process id. Returns: 0 or an errno value. Threads: any. */
DREY_EXPORT int drey_profile_write(const char* path);

/* --- Live at exit ---
 * Tells on standard error what is live now: blocks and bytes by size and, with the profile on, by
 * stack. Live is not leaked: the C library's buffers and the program's last objects are among it. */
DREY_EXPORT void drey_leak_report(void);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
