// settings.cpp: see settings.hpp.
// SPDX-License-Identifier: MIT
#include "trace/settings.hpp"

#include "os/os.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>

#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

namespace drey::trace {
namespace {
/// Bytes: digits, then nothing or K, M, G. Fails: false.
[[nodiscard]] bool parse_bytes(const char* text, std::uint64_t& bytes) noexcept {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 40;
  if (*text == '\0') return false;
  bytes = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    bytes = bytes * 10 + static_cast<std::uint64_t>(*text - '0');
    if (bytes > kMax) return false;
  }
  unsigned shift = 0;
  if (*text == 'K') shift = 10;
  if (*text == 'M') shift = 20;
  if (*text == 'G') shift = 30;
  if (shift != 0) ++text;
  if (bytes > kMax >> shift) return false;
  bytes <<= shift;
  return *text == '\0' && bytes >= kLimitMinBytes;
}

/// Fails: false, where the folder cannot be told.
[[nodiscard]] bool add_folder(Text<sizeof Settings::path>& path) noexcept {
  char folder[sizeof Settings::path];
  // The call itself: the C library's may allocate.
  if (::syscall(SYS_getcwd, folder, sizeof folder) <= 0 || folder[0] != '/') return false;
  path.add(folder).add("/");
  return true;
}

void ignore(const char* name, const char* value, const char* expected) noexcept {
  Text<256> line;
  line.add("drey: ").add(name).add("=").add(value).add(" ignored: expected ").add(expected);
  write_line_to_stderr(line.c_str());
}
}  // namespace

bool read_settings(Settings& settings) noexcept {
  const char* const name = os::environment("DREY_TRACE");
  if (name == nullptr || *name == '\0') return false;
  Text<sizeof Settings::path> path;
  const bool has_folder = *name == '/' || add_folder(path);
  if (!has_folder || path.length() + std::strlen(name) + 1 > sizeof settings.path) {
    write_line_to_stderr("drey: DREY_TRACE ignored: expected a path of at most 959 characters");
    return false;
  }
  path.add(name);
  std::memcpy(settings.path, path.c_str(), path.length() + 1);
  const char* const limit = os::environment("DREY_TRACE_LIMIT");
  std::uint64_t bytes = 0;
  if (limit != nullptr && parse_bytes(limit, bytes)) {
    settings.limit_bytes = bytes;
  } else if (limit != nullptr) {
    ignore("DREY_TRACE_LIMIT", limit, "bytes, 131072 to 1024G, as in 500M");
  }
  const char* const clock = os::environment("DREY_TRACE_CLOCK");
  settings.wants_kernel_clock = clock != nullptr && std::strcmp(clock, "kernel") == 0;
  if (clock != nullptr && !settings.wants_kernel_clock) {
    ignore("DREY_TRACE_CLOCK", clock, "kernel");
  }
  return true;
}
}  // namespace drey::trace
