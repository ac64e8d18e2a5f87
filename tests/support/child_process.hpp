// child_process.hpp: runs something in a child, with its output, its end and a limit of time.
// A child that hangs is killed by its own alarm and reported as such; nothing here sleeps.
// Read next: ../misuse/misuse_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace drey::test {
struct ChildResult {
  int exit_status = -1;      ///< valid if signal_number is 0
  int signal_number = 0;     ///< the signal that ended it; SIGALRM means that it hung
  std::string output;        ///< what it wrote to standard output
  std::string error_output;  ///< what it wrote to standard error

  [[nodiscard]] bool succeeded() const { return signal_number == 0 && exit_status == 0; }
  /// One line for failure messages.
  [[nodiscard]] std::string summary() const;
};

/// Runs `body` in a forked child and exits it with what body returns, without exit handlers.
ChildResult run_forked(const std::function<int()>& body, unsigned limit_seconds = 60);

/// Runs a program with more environment variables.
ChildResult run_program(const std::vector<std::string>& arguments,
                        const std::vector<std::pair<std::string, std::string>>& environment,
                        unsigned limit_seconds = 60);
}  // namespace drey::test
