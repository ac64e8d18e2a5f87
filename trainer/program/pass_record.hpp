// pass_record.hpp: what is known after a pass, and who wants to know: the terminal, CSV files and
// other outputs are observers of passes, and the session knows none of them.
// Read next: session.hpp, observers.hpp, metrics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace drey::trainer {
struct PassRecord {
  std::uint64_t epoch = 0;              ///< from 1 on
  std::uint64_t environment_steps = 0;  ///< since the very start, as the next
  std::uint64_t gradient_steps = 0;
  double epsilon = 0;
  double learning_rate = 0;
  double loss = 0;          ///< mean loss of the pass
  double q_mean = 0;        ///< mean value of the actions learned from
  double train_return = 0;  ///< what the exploring agent gained, in the problem's unit
  std::optional<double>
      validation_return;        ///< what the greedy agent gained, where it was looked at
  bool is_best = false;         ///< that is more than ever before in this run
  double steps_per_second = 0;  ///< gradient steps
};

/// Threads: called between passes, by the thread that trains; heap calls are allowed.
class PassObserver {
 public:
  PassObserver() = default;
  PassObserver(const PassObserver&) = delete;
  PassObserver& operator=(const PassObserver&) = delete;
  virtual ~PassObserver() = default;

  /// Fails: SystemError, when an output cannot be written; the run then ends.
  virtual void pass_done(const PassRecord& record) = 0;
};
}  // namespace drey::trainer
