// trainer_program.hpp: runs drey-train as a user would, on data small enough for a test.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "trainer/files/output_file.hpp"

namespace drey::test {
inline constexpr unsigned kLimitSeconds = 300;  // sanitizers are slow

/// Options that make a pass of 390 steps take well under a second.
inline std::vector<std::string> small_run(const std::string& epochs) {
  return {"--data", "synthetic:1000:1", "--epochs", epochs,     "--learning-starts",
          "50",     "--batch",          "16",       "--buffer", "600"};
}

inline std::vector<std::string> operator+(std::vector<std::string> left,
                                          const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline ChildResult run_trainer(const std::vector<std::string>& options,
                               const std::string& program = DREY_TRAIN_PROGRAM) {
  return run_program(std::vector<std::string>{program} + options, {}, kLimitSeconds);
}

/// What follows `label` on its line of `output`, up to a space or the line's end.
inline std::string word_after(const std::string& output, const std::string& label) {
  const std::size_t place = output.find(label);
  if (place == std::string::npos) return {};
  const std::size_t begin = place + label.size();
  return output.substr(begin, output.find_first_of(" ,;\n", begin) - begin);
}
}  // namespace drey::test
