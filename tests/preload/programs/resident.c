/* resident.c: prints the resident KiB of a program that has allocated next to nothing.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  free(malloc(100));
  char text[8192];
  const int file = open("/proc/self/status", O_RDONLY);
  text[read(file, text, sizeof text - 1)] = '\0';
  printf("%ld\n", strtol(strstr(text, "VmRSS:") + 6, NULL, 10));
  return 0;
}
