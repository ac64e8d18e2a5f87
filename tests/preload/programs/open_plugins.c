/* open_plugins.c: four threads open, use and close plugins with thread-locals while four others
 * allocate. Read next: ../own_programs.py. SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* folder;
static atomic_int openers_left = 4;
static atomic_int failures;

static void* open_all(void* first) {
  for (int i = (int)(long)first; i < 50; i += 4) {
    char path[4096];
    snprintf(path, sizeof path, "%s/plugin%d.so", folder, i);
    void* const plugin = dlopen(path, RTLD_NOW);
    int (*const touch)(int) = plugin == NULL ? NULL : (int (*)(int))dlsym(plugin, "touch_plugin");
    if (touch == NULL || touch(i) != 1) atomic_fetch_add(&failures, 1);
    if (plugin != NULL && i % 3 == 0) dlclose(plugin);
  }
  atomic_fetch_sub(&openers_left, 1);
  return NULL;
}

static void* allocate_meanwhile(void* unused) {
  for (unsigned i = 0; atomic_load(&openers_left) > 0; ++i) {
    const size_t bytes = 1 + i * 37 % 5000;
    free(memset(malloc(bytes), 1, bytes));
  }
  return NULL;
}

int main(int count, char** arguments) {
  folder = arguments[1];
  pthread_t threads[8];
  for (long i = 0; i < 8; ++i) {
    pthread_create(&threads[i], NULL, i < 4 ? open_all : allocate_meanwhile, (void*)i);
  }
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  if (atomic_load(&failures) != 0) return 1;
  puts("ok");
  return 0;
}
