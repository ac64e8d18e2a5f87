// process_memory.hpp: what the kernel says about this process, read without a call of malloc.
// Units: bytes unless the name says otherwise. Fails: -1, when /proc is not there.
// Read next: seed.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace drey::test {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Reads a small file of /proc into `buffer`; returns its length.
inline long read_proc_file(const char* path, char* buffer, std::size_t capacity) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const long length = ::read(file, buffer, capacity - 1);
  ::close(file);
  buffer[length > 0 ? length : 0] = '\0';
  return length;
}

/// A "Name:   123 kB" row of /proc/self/status, in bytes.
inline long status_bytes(const char* name) {
  char text[8192];
  if (read_proc_file("/proc/self/status", text, sizeof text) <= 0) return -1;
  const char* const row = std::strstr(text, name);
  return row == nullptr ? -1 : std::strtol(row + std::strlen(name), nullptr, 10) * 1024;
}

/// Both are 0 under a sanitizer, whose own memory would drown the answer.
inline long resident_bytes() {
  return kSanitized ? 0 : status_bytes("VmRSS:");
}
inline long address_space_bytes() {
  return kSanitized ? 0 : status_bytes("VmSize:");
}

/// Minor page faults of the process so far.
inline long minor_fault_count() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}
}  // namespace drey::test
