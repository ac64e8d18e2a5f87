// machine.hpp: where and when a measurement was made; without it a figure means nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace drey::bench {
struct Machine {
  std::string cpu;  ///< model name as the kernel gives it
  int cores = 0;    ///< that this process may use
  double memory_gib = 0;
  std::string kernel;                  ///< name, release, architecture
  std::string distribution;            ///< PRETTY_NAME of os-release
  std::string compiler;                ///< that built drey-bench, with the build type
  std::string transparent_huge_pages;  ///< "always", "madvise" or "never"
  std::string load;                    ///< the three load averages before the race
  std::string date;                    ///< UTC, ISO 8601
  std::string command;                 ///< as typed
};

[[nodiscard]] Machine describe_machine(int argc, char** argv);
}  // namespace drey::bench
