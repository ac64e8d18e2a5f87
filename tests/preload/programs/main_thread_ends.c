/* main_thread_ends.c: the main thread ends by pthread_exit; another goes on, frees its blocks and
 * exits. Read next: ../own_programs.py. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* blocks[1000];
static pthread_t main_thread;

static void* go_on(void* unused) {
  pthread_join(main_thread, NULL);
  for (int i = 0; i < 1000; ++i) {
    if (blocks[i][i] != (char)i) exit(1);
    free(blocks[i]);
  }
  for (int i = 0; i < 20000; ++i) free(memset(malloc(1 + i), 1, 1 + i));
  puts("ok");
  exit(0);
}

int main(void) {
  for (int i = 0; i < 1000; ++i) blocks[i] = memset(malloc(1 + i), i, 1 + i);
  main_thread = pthread_self();
  pthread_t thread;
  if (pthread_create(&thread, NULL, go_on, NULL) != 0) return 1;
  pthread_exit(NULL);
}
