// child.hpp: runs a program as a child process and says what it cost.
//
// Invariants: the child's output is captured whole (it never blocks on us); a child that runs over
// its time is killed and reported; only processes started here are ever signalled.
// Read next: child.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace drey::bench {
struct ChildCommand {
  std::vector<std::string> arguments;                            ///< [0] is the program's path
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
  std::filesystem::path folder;                                  ///< to run in; empty: ours
  std::filesystem::path standard_input;  ///< seen from `folder`; empty: ours
  bool bind_to_one_core = false;         ///< to bound_core(), when the system lets us
  int limit_seconds = 1800;
};

struct ChildResult {
  int exit_code = 0;  ///< 128 + signal if it was killed by one
  double wall_seconds = 0;
  double cpu_seconds = 0;  ///< user and system, of the child alone
  std::string standard_output;
  std::string standard_error;

  [[nodiscard]] bool succeeded() const noexcept { return exit_code == 0; }
  /// Last non-empty line of standard error: what the program says went wrong.
  [[nodiscard]] std::string last_words() const;
};

/// The core measurements are bound to: the last one this process may use.
[[nodiscard]] int bound_core() noexcept;

/// Fails: BadInput if the program cannot be started; RaceFailed if it ran over its time or the
/// user interrupted it.
[[nodiscard]] ChildResult run_child(const ChildCommand& command);
}  // namespace drey::bench
