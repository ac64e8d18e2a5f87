/* first_calls.c: every entry point as the very first call of the process, from .preinit_array.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* early_block;
static int early_is_right;

static void nothing(void) {}

static void before_everything(int count, char** arguments, char** environment) {
  free(NULL);
  char* const zeroed = calloc(3, 100);
  early_block = malloc(100);
  void* grown = realloc(NULL, 50);
  grown = realloc(grown, 5000);
  void* aligned = NULL;
  const int result = posix_memalign(&aligned, 4096, 10);
  early_is_right = zeroed != NULL && zeroed[299] == 0 && early_block != NULL && grown != NULL &&
                   result == 0 && malloc_usable_size(NULL) == 0 &&
                   malloc_usable_size(early_block) >= 100;
  memset(early_block, 7, 100);
  for (int i = 0; i < 100; ++i) atexit(nothing);
  free(zeroed);
  free(grown);
  free(aligned);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const entry)(int, char**, char**) = before_everything;

int main(void) {
  if (!early_is_right || ((char*)early_block)[99] != 7) return 1;
  free(early_block);
  puts("ok");
  return 0;
}
