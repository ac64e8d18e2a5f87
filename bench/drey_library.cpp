// drey_library.cpp: see drey_library.hpp.
// SPDX-License-Identifier: MIT
#include "drey_library.hpp"

#include <cstdlib>

namespace drey::bench {
std::filesystem::path drey_library(const std::filesystem::path& bin_dir) {
  const char* const chosen = std::getenv("DREY_LIBRARY");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const auto usual = (bin_dir / ".." / "lib" / "libdrey.so").lexically_normal();
  const auto multiarch =
      (bin_dir / ".." / "lib" / DREY_LIBRARY_ARCHITECTURE / "libdrey.so").lexically_normal();
  std::error_code ignored;
  const bool is_multiarch =
      !std::filesystem::exists(usual, ignored) && std::filesystem::exists(multiarch, ignored);
  return is_multiarch ? multiarch : usual;
}

std::string preload_with(const std::filesystem::path& library) {
  const char* const previous = std::getenv("LD_PRELOAD");
  if (previous == nullptr || *previous == '\0') return library.string();
  return library.string() + ":" + previous;
}
}  // namespace drey::bench
