/* pools.h: pools of float vectors for C: vectors of one length, taken and given back by any thread.
 *
 * As the C++ pools of pools/vector_pool.hpp, with the length chosen when the pool is made. A vector is
 * given back to the pool it came from; every other pointer, a vector that is free and one that two
 * threads give back at once are named on standard error, and the process aborts.
 * Failure is null or a smaller number; nothing aborts because vectors or memory ran out.
 * SPDX-License-Identifier: MIT */
#ifndef DREY_POOLS_H
#define DREY_POOLS_H

#include <drey/alloc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(readability-identifier-naming): C names. */
typedef struct drey_vector_pool_t drey_vector_pool_t;

/* Zero is a good value for everything but value_count and capacity. */
typedef struct drey_vector_pool_options_t {
  size_t value_count;  /* floats in a vector, at least 4 */
  size_t capacity;     /* vectors */
  size_t capacity_max; /* vectors the pool may grow to, in steps that double it; 0: it is fixed */
  bool is_packed;      /* values side by side; else on cache lines, with zero lanes behind them */
  bool is_zeroed;      /* the values of a vector just taken are 0; else they are anything */
  bool has_huge_pages; /* asks the kernel for them */
  bool is_checked;     /* poison, guards, sites; also on by DREY_POOL_CHECKS=1 */
  /* Told of each piece of the pool's memory before its first vector is taken (false: it cannot be
   * had, the pool does not grow), and of all of it at the end. Null: nobody is told. */
  bool (*open_memory)(void* begin, size_t bytes, void* context);
  void (*close_memory)(void* begin, size_t bytes, void* context);
  void* context;
} drey_vector_pool_options_t;

/* Names a taken vector without holding it. */
typedef struct drey_vector_ref_t {
  uint32_t place_and_tag;
  uint32_t generation; /* even: names nothing */
} drey_vector_ref_t;

typedef struct drey_vector_pool_stats_t {
  uint64_t taken;           /* vectors out now */
  uint64_t ever_taken;      /* different vectors taken so far */
  uint64_t take_count;      /* successful takes so far */
  uint64_t give_back_count; /* vectors given back so far */
  uint64_t exhausted_count; /* vectors asked for and not there */
  uint64_t cached;          /* free vectors kept by threads */
  size_t capacity;          /* vectors */
  size_t opened;            /* of capacity, prepared so far */
  size_t reserved_bytes;    /* address space held */
  size_t touched_bytes;     /* of that, vectors ever taken */
} drey_vector_pool_stats_t;
/* NOLINTEND(readability-identifier-naming) */

/* Fails: null; errno is EINVAL if value_count is below 4 or nothing may ever be taken, ENOMEM if
 * there is no room for that many. */
DREY_EXPORT drey_vector_pool_t* drey_vector_pool_create(const drey_vector_pool_options_t* options);
/* Requires: every vector is back; else says how many are out, and aborts. Null does nothing. */
DREY_EXPORT void drey_vector_pool_destroy(drey_vector_pool_t* pool);

/* Takes a vector of value_count floats. Fails: null if all were taken. */
DREY_EXPORT float* drey_vector_pool_take(drey_vector_pool_t* pool);
/* Gives a vector back; null does nothing. */
DREY_EXPORT void drey_vector_pool_give_back(drey_vector_pool_t* pool, float* vector);
/* Takes `count` vectors into vectors[0 ...]. Returns how many it took: fewer only if all were taken. */
DREY_EXPORT size_t drey_vector_pool_take_batch(drey_vector_pool_t* pool, float** vectors,
                                               size_t count);
/* Gives `count` vectors back; null is skipped. The array is unchanged. */
DREY_EXPORT void drey_vector_pool_give_back_batch(drey_vector_pool_t* pool, float* const* vectors,
                                                  size_t count);

/* Names the vector; of one that is free, or no vector of the pool, a reference to nothing. */
DREY_EXPORT drey_vector_ref_t drey_vector_pool_ref(const drey_vector_pool_t* pool,
                                                   const float* vector);
/* The vector that was named; null if it has been given back since. */
DREY_EXPORT float* drey_vector_pool_find(const drey_vector_pool_t* pool, drey_vector_ref_t ref);
/* True for the first float of the pool's vectors, taken or not. */
DREY_EXPORT bool drey_vector_pool_owns(const drey_vector_pool_t* pool, const float* vector);

/* Floats that may be read of a vector: value_count and the zeros behind them. */
DREY_EXPORT size_t drey_vector_pool_lane_count(const drey_vector_pool_t* pool);
DREY_EXPORT size_t drey_vector_pool_capacity(const drey_vector_pool_t* pool);
/* Cost: linear in the vectors ever taken. */
DREY_EXPORT void drey_vector_pool_stats_read(drey_vector_pool_t* pool,
                                             drey_vector_pool_stats_t* stats);
/* A line to standard error for each of at most `count_max` vectors that are out; of a checked pool,
 * with where it was taken. */
DREY_EXPORT void drey_vector_pool_report_taken(drey_vector_pool_t* pool, size_t count_max);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
