// file_linux.cpp: file.hpp on Linux.
// Read next: file.hpp.
// SPDX-License-Identifier: MIT
#include "os/file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::os {
namespace {
/// A raw call with errno kept. Returns: its result, or -errno.
template <typename... Arguments>
long call(long number, Arguments... arguments) noexcept {
  const int saved_errno = errno;
  const long result = ::syscall(number, arguments...);
  const long answer = result == -1 ? -static_cast<long>(errno) : result;
  errno = saved_errno;
  return answer;
}

/// Descriptors below are the program's to play with.
constexpr int kDescriptorMin = 100;

constinit int kept_descriptor = kStandardError;
constinit struct stat kept_file {};
}  // namespace

int open_to_write(const char* path) noexcept {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
  return static_cast<int>(call(SYS_openat, AT_FDCWD, path, kFlags, 0644));
}

int write_all(int descriptor, const char* text, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const long written = call(SYS_write, descriptor, text, bytes);
    if (written == -EINTR) continue;
    if (written <= 0) return written == 0 ? EIO : static_cast<int>(-written);
    text += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return 0;
}

int append_file(int descriptor, const char* path) noexcept {
  const int source = static_cast<int>(call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (source < 0) return -source;
  char buffer[4096];
  int error = 0;
  while (error == 0) {
    const long length = call(SYS_read, source, buffer, sizeof(buffer));
    if (length == -EINTR) continue;
    if (length <= 0) {
      error = static_cast<int>(-length);
      break;
    }
    error = write_all(descriptor, buffer, static_cast<std::size_t>(length));
  }
  close_file(source);
  return error;
}

int close_file(int descriptor) noexcept {
  return static_cast<int>(-call(SYS_close, descriptor));
}

void keep_standard_error() noexcept {
  const int saved_errno = errno;
  const long second = call(SYS_fcntl, kStandardError, F_DUPFD_CLOEXEC, kDescriptorMin);
  if (second >= 0 && ::fstat(static_cast<int>(second), &kept_file) == 0) {
    kept_descriptor = static_cast<int>(second);
  }
  errno = saved_errno;
}

int kept_standard_error() noexcept {
  const int saved_errno = errno;
  struct stat present {};
  // The program may have closed it, and opened what is none of our business under its number.
  const bool is_same = kept_descriptor != kStandardError &&
                       ::fstat(kept_descriptor, &present) == 0 &&
                       present.st_dev == kept_file.st_dev && present.st_ino == kept_file.st_ino;
  errno = saved_errno;
  return is_same ? kept_descriptor : kStandardError;
}

int process_id() noexcept {
  return ::getpid();
}

const char* error_text(int error) noexcept {
  const char* const text = ::strerrordesc_np(error);
  return text != nullptr ? text : "unknown error";
}
}  // namespace drey::os
