/* allocating_wrappers.c: wrappers of system calls that allocate before they call the kernel.
 * Read next: ../own_programs.py.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread int depth __attribute__((tls_model("initial-exec")));

/* Allocates once a call from outside: a wrapper that is entered from its own allocation does not.
 */
static void allocate_something(void) {
  if (depth > 0) return;
  ++depth;
  free(memset(malloc(200), 1, 200));
  --depth;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  allocate_something();
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void* buffer, size_t bytes) {
  allocate_something();
  return syscall(SYS_read, file, buffer, bytes);
}

int close(int file) {
  allocate_something();
  return (int)syscall(SYS_close, file);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  allocate_something();
  return (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

int munmap(void* address, size_t bytes) {
  allocate_something();
  return (int)syscall(SYS_munmap, address, bytes);
}

int madvise(void* address, size_t bytes, int advice) {
  allocate_something();
  return (int)syscall(SYS_madvise, address, bytes, advice);
}

int mprotect(void* address, size_t bytes, int protection) {
  allocate_something();
  return (int)syscall(SYS_mprotect, address, bytes, protection);
}
