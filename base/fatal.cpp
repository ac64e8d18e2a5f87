// fatal.cpp: the last words of a process: one line, one write, no allocation.
// Read next: include/drey/base/assert.hpp.
// SPDX-License-Identifier: MIT
#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>

#include <cerrno>
#include <cstdlib>

#include <unistd.h>

namespace drey {
void write_line_to_stderr(const char* text) noexcept {
  const int saved_errno = errno;
  Text<512> line;
  line.add(text).add("\n");
  // A closed standard error is not a reason to fail twice.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.c_str(), line.length());
  errno = saved_errno;
}

void fatal(const char* text) noexcept {
  Text<500> line;
  line.add("drey: ").add(text);
  write_line_to_stderr(line.c_str());
  std::abort();
}

void fatal_at(const char* text, const char* file, int line) noexcept {
  Text<400> message;
  message.add(text).add(" (").add(file).add(":").add(static_cast<std::uint64_t>(line)).add(")");
  fatal(message.c_str());
}
}  // namespace drey
