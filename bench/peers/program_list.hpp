// program_list.hpp: the list of whole programs, one a line:
//
//   name | kind | command line | stdin=FILE | time=REGEX or count=REGEX
//
// kind: "heap" if CPU time and memory are judged, "memory" if only memory is (the program does little
// with its heap). The command line is cut at blanks, without quoting. The last two fields may be
// absent. Programs that run for a fixed time say what they did in it: `time` names a number in
// their output that stands for the time of a piece of work, `count` one that CPU time is divided by.
// '#' begins a comment line. Relative paths are seen from the folder of the programs.
// Read next: program_list.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drey::bench {
struct ProgramEntry {
  std::string name;
  bool is_heap_bound = false;
  std::vector<std::string> command;
  std::filesystem::path standard_input;  ///< empty: none
  std::string time_pattern;              ///< one group; empty: CPU time
  std::string count_pattern;             ///< one group; empty: CPU time
};

/// Fails: BadInput naming file, line, what was expected and what was found.
[[nodiscard]] std::vector<ProgramEntry> read_program_list(const std::filesystem::path& path);
}  // namespace drey::bench
