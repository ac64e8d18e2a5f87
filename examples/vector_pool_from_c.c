/* vector_pool_from_c.c: observations of 225 floats from a pool, in C.
 *
 * Build: cc vector_pool_from_c.c $(pkg-config --cflags --libs drey)
 * SPDX-License-Identifier: MIT */
#include <drey/pools.h>

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const drey_vector_pool_options_t options = {.value_count = 225, .capacity = 1000};
  drey_vector_pool_t* const pool = drey_vector_pool_create(&options);
  if (pool == NULL) return EXIT_FAILURE;
  float* batch[128];
  const size_t count = drey_vector_pool_take_batch(pool, batch, 128);
  for (size_t row = 0; row < count; ++row) {
    for (int feature = 0; feature < 225; ++feature) batch[row][feature] = (float)feature;
  }
  drey_vector_pool_stats_t stats;
  drey_vector_pool_stats_read(pool, &stats);
  printf("%zu of %zu vectors out\n", (size_t)stats.taken, stats.capacity);
  drey_vector_pool_give_back_batch(pool, batch, count);
  drey_vector_pool_destroy(pool);
  return count == 128 ? EXIT_SUCCESS : EXIT_FAILURE;
}
