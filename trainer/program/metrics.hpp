// metrics.hpp: one row per pass, on the terminal and in a CSV file.
// The file is replaced whole after each pass, so a reader never sees half a row.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace drey::trainer {
struct MetricsRow {
  std::uint64_t epoch = 0;              ///< from 1 on
  std::uint64_t environment_steps = 0;  ///< since the very start, as the next
  std::uint64_t gradient_steps = 0;
  double epsilon = 0;
  double loss = 0;               ///< mean Huber loss of the pass
  double value = 0;              ///< mean value of the actions learned from
  double train_return = 0;       ///< what the exploring agent gained: 0.1 is ten percent
  double validation_return = 0;  ///< what the greedy agent gained
  double steps_per_second = 0;   ///< gradient steps
};

class MetricsFile {
 public:
  /// An empty path keeps no file. With `resumed_epochs` > 0 the file's rows up to that epoch stay.
  MetricsFile(std::string path, std::uint64_t resumed_epochs);

  /// Fails: SystemError; the file is then as it was.
  void add(const MetricsRow& row);

 private:
  std::string path_;
  std::string contents_;
};
}  // namespace drey::trainer
