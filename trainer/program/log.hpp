// log.hpp: plain lines for the user, on standard output; complaints and the bar go to the error
// one.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdarg>
#include <cstdio>

namespace drey::trainer {
/// False on all but the first of several ranks. Set before anything is logged.
inline bool log_is_on = true;

/// One line, as printf forms it, seen at once even through a pipe.
[[gnu::format(printf, 1, 2)]] inline void log_line(const char* format, ...) {
  if (!log_is_on) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
  std::fflush(stdout);
}
}  // namespace drey::trainer
