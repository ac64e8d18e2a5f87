/* c_api_test.c: pools of float vectors from C: every function of drey/pools.h, and what it promises.
 * Exit code 0 if all holds; else 1 after a line that says what did not.
 * SPDX-License-Identifier: MIT */
#include <drey/pools.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int failure_count = 0;

static void expect(bool fact, const char* text, int line) {
  if (fact) return;
  fprintf(stderr, "c_api_test.c:%d: expected %s\n", line, text);
  ++failure_count;
}
static size_t opened_bytes = 0;

static bool open_memory(void* begin, size_t bytes, void* context) {
  if (bytes >= 1000000) return false;
  if (opened_bytes == 0) *(void**)context = begin;
  opened_bytes += bytes;
  return true;
}

static void close_memory(void* begin, size_t bytes, void* context) {
  expect(*(void**)context == begin && bytes == opened_bytes, "all of it to be closed", __LINE__);
  opened_bytes = 0;
}

static void test_one_vector(void) {
  const drey_vector_pool_options_t options = {.value_count = 225, .capacity = 2, .is_zeroed = true};
  drey_vector_pool_t* const pool = drey_vector_pool_create(&options);
  expect(pool != NULL, "a pool", __LINE__);
  expect(drey_vector_pool_capacity(pool) == 2, "two vectors", __LINE__);
  expect(drey_vector_pool_lane_count(pool) == 240, "240 lanes", __LINE__);
  float* const vector = drey_vector_pool_take(pool);
  expect(vector != NULL && vector[0] == 0.0F && vector[239] == 0.0F, "a zero vector", __LINE__);
  expect(drey_vector_pool_owns(pool, vector), "the pool to know its vector", __LINE__);
  expect(!drey_vector_pool_owns(pool, vector + 1), "no vector inside of one", __LINE__);
  vector[0] = 1;
  const drey_vector_ref_t ref = drey_vector_pool_ref(pool, vector);
  expect(drey_vector_pool_find(pool, ref) == vector, "the vector found", __LINE__);
  drey_vector_pool_give_back(pool, vector);
  drey_vector_pool_give_back(pool, NULL);
  expect(drey_vector_pool_find(pool, ref) == NULL, "a stale reference", __LINE__);
  expect(drey_vector_pool_ref(pool, vector).generation == 0, "no reference to a free one",
         __LINE__);
  float* const again = drey_vector_pool_take(pool);
  expect(again == vector && again[0] == 0.0F, "the same vector, zero again", __LINE__);
  float* const other = drey_vector_pool_take(pool);
  expect(other != NULL && drey_vector_pool_take(pool) == NULL, "no third vector", __LINE__);
  drey_vector_pool_give_back(pool, again);
  drey_vector_pool_give_back(pool, other);
  drey_vector_pool_stats_t stats;
  drey_vector_pool_stats_read(pool, &stats);
  expect(stats.taken == 0 && stats.take_count == 3 && stats.give_back_count == 3, "three pairs",
         __LINE__);
  expect(stats.exhausted_count == 1, "one take that found nothing", __LINE__);
  drey_vector_pool_report_taken(pool, 10);
  drey_vector_pool_destroy(pool);
  drey_vector_pool_destroy(NULL);
}

static void test_batches(void) {
  const drey_vector_pool_options_t options = {
      .value_count = 7, .capacity = 1000, .is_packed = true};
  drey_vector_pool_t* const pool = drey_vector_pool_create(&options);
  float* vectors[1100];
  expect(drey_vector_pool_take_batch(pool, vectors, 1100) == 1000, "1,000 of 1,100", __LINE__);
  for (int index = 0; index < 1000; ++index) {
    for (int value = 0; value < 7; ++value) vectors[index][value] = (float)index;
  }
  for (int index = 0; index < 1000; ++index) {
    expect(vectors[index][0] == (float)index && vectors[index][6] == (float)index,
           "vectors that do not overlap", __LINE__);
  }
  drey_vector_pool_give_back_batch(pool, vectors, 1000);
  expect(drey_vector_pool_take_batch(pool, vectors, 10) == 10, "ten", __LINE__);
  drey_vector_pool_give_back_batch(pool, vectors, 10);
  drey_vector_pool_destroy(pool);
}

static void test_bad_input(void) {
  drey_vector_pool_options_t options = {.value_count = 3, .capacity = 10};
  errno = 0;
  expect(drey_vector_pool_create(&options) == NULL && errno == EINVAL, "EINVAL", __LINE__);
  options.value_count = 225;
  options.capacity = 0;
  errno = 0;
  expect(drey_vector_pool_create(&options) == NULL && errno == EINVAL, "EINVAL", __LINE__);
  options.capacity = SIZE_MAX;
  errno = 0;
  expect(drey_vector_pool_create(&options) == NULL && errno == ENOMEM, "ENOMEM", __LINE__);
  options.capacity = 10;
  options.value_count = SIZE_MAX / 2;
  errno = 0;
  expect(drey_vector_pool_create(&options) == NULL && errno == ENOMEM, "ENOMEM", __LINE__);
}

static void test_backing(void) {
  void* begin = NULL;
  drey_vector_pool_options_t options = {.value_count = 225,
                                        .capacity = 100,
                                        .capacity_max = 200,
                                        .open_memory = open_memory,
                                        .close_memory = close_memory,
                                        .context = &begin};
  drey_vector_pool_t* const pool = drey_vector_pool_create(&options);
  expect(pool != NULL && opened_bytes >= 96000, "the first piece opened", __LINE__);
  drey_vector_pool_destroy(pool);
  expect(opened_bytes == 0, "all of it closed", __LINE__);
  options.capacity = 10000;
  options.capacity_max = 0;
  expect(drey_vector_pool_create(&options) == NULL && errno == ENOMEM, "a refusal", __LINE__);
}

int main(void) {
  test_one_vector();
  test_batches();
  test_bad_input();
  test_backing();
  return failure_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
