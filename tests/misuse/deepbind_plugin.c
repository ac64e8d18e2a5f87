/* deepbind_plugin.c: a plugin whose malloc is the C library's own when it is opened with
 * RTLD_DEEPBIND, whatever the program uses. It gives away its blocks, and takes its own back.
 * Read next: misuse_child.cpp.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

/* A block of `bytes` of this library's malloc that begins with `text`. */
char* make_text(const char* text, size_t bytes) {
  char* const block = malloc(bytes < 64 ? 64 : bytes);
  strcpy(block, text);
  return block;
}

void release_text(void* block) {
  free(block);
}
