/* hidden_malloc.c: a plugin with a malloc of its own, as browsers and language runtimes bring one.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

static _Alignas(16) char arena[1 << 20];
static size_t used;
static int frees;

void* malloc(size_t bytes) {
  void* const block = arena + used;
  used += (bytes + 15) / 16 * 16;
  return block;
}

void free(void* block) {
  if ((char*)block >= arena && (char*)block < arena + sizeof arena) ++frees;
}

/* Returns how many blocks came back to this malloc: all ten. */
__attribute__((visibility("default"))) int use_own_malloc(void) {
  void* blocks[10];
  for (int i = 0; i < 10; ++i) blocks[i] = malloc(100);
  for (int i = 0; i < 10; ++i) free(blocks[i]);
  return frees;
}
