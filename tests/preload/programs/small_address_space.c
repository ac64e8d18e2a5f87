/* small_address_space.c: allocates until there is no more, twice; null is an answer, a crash is
 * not. Read next: ../own_programs.py. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
  struct link* next;
  size_t bytes;
};

/* Takes blocks until there are none, then frees all. Returns their number. */
static int fill_up(size_t bytes) {
  struct link* all = NULL;
  int count = 0;
  for (;;) {
    errno = 0;
    struct link* const block = malloc(bytes);
    if (block == NULL) break;
    memset(block, 1, sizeof *block);
    block->next = all;
    all = block;
    ++count;
  }
  if (errno != ENOMEM) exit(2);
  while (all != NULL) {
    struct link* const next = all->next;
    free(all);
    all = next;
  }
  return count;
}

int main(void) {
  const size_t sizes[] = {100, 3000, 50000, 1 << 20, 16 << 20};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 5; ++i) {
      if (fill_up(sizes[i]) == 0 && sizes[i] < 1 << 20) return 3;
    }
  }
  void* const block = malloc(1000);
  if (block == NULL) return 4;
  free(block);
  puts("ok");
  return 0;
}
