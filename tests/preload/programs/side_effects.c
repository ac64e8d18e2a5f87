/* side_effects.c: prints what a library could leave behind: threads, files, signal handlers,
 * stacks. Read next: ../own_programs.py. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int entries(const char* path) {
  DIR* const folder = opendir(path);
  int count = 0;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

int main(void) {
  for (int i = 1; i < 2000; ++i) free(memset(malloc(i * 100), 1, i * 100));
  printf("threads %d files %d\n", entries("/proc/self/task"), entries("/proc/self/fd"));
  for (int number = 1; number < 32; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL) {
      printf("signal %d has a handler\n", number);
    }
  }
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  stack_t stack;
  sigaltstack(NULL, &stack);
  printf("blocked %d stack %d\n", sigisemptyset(&blocked), stack.ss_flags);
  extern char** environ;
  int variables = 0;
  for (char** variable = environ; *variable != NULL; ++variable) {
    variables += strncmp(*variable, "LD_PRELOAD=", 11) != 0;
  }
  printf("variables %d\n", variables);
  return 0;
}
