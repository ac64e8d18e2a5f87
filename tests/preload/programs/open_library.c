/* open_library.c: opens the allocator at run time and uses it by address beside the process's own.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  void* (*const take)(size_t) = (void* (*)(size_t))dlsym(library, "malloc");
  void (*const give_back)(void*) = (void (*)(void*))dlsym(library, "free");
  for (size_t bytes = 1; bytes < 1000000; bytes *= 3) {
    void* const theirs = take(bytes);
    void* const ours = malloc(bytes);
    memset(theirs, 1, bytes);
    memset(ours, 2, bytes);
    give_back(theirs);
    free(ours);
  }
  puts("ok");
  return 0;
}
