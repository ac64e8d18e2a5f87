// replay_options.hpp: what `drey-bench replay` was asked for.
// Read next: replay_options.cpp, replay.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace drey::bench {
struct ReplayOptions {
  std::filesystem::path trace;
  std::vector<std::string> allocators;  ///< NAME=LIBRARY; none: drey, system, mimalloc
  int rounds = 3;
  bool sequential = false;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> curve;
  std::optional<std::filesystem::path> html;
  std::filesystem::path bin_dir;
};

/// One line of `drey-bench replay TRACE --allocator NAME=LIBRARY`.
struct ReplayAllocator {
  std::string name;
  std::string library;       ///< for LD_PRELOAD; empty: the C library
  bool is_optional = false;  ///< one of the usual three: left out if it is not installed
};

void add_replay(CLI::App& app, ReplayOptions& options);

/// Fails: BadInput for what is not NAME=LIBRARY or system, a name given twice, a missing file.
[[nodiscard]] std::vector<ReplayAllocator> find_allocators(const ReplayOptions& options);
}  // namespace drey::bench
