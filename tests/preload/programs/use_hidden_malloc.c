/* use_hidden_malloc.c: opens the plugin that has its own malloc, and keeps using the process's.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** arguments) {
  void* const mine = malloc(100);
  void* const plugin = dlopen(arguments[1], RTLD_NOW);
  int (*const use)(void) = plugin == NULL ? NULL : (int (*)(void))dlsym(plugin, "use_own_malloc");
  if (use == NULL || use() != 10) return 1;
  free(mine);
  free(memset(malloc(1000), 1, 1000));
  dlclose(plugin);
  puts("ok");
  return 0;
}
