/* overflow.c: writes one byte behind a block, for Valgrind to find.
 * Read next: ../real_programs.py.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

int main(void) {
  volatile char* const block = malloc(100);
  block[100] = 1;
  free((void*)block);
  return 0;
}
