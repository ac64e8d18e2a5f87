// progress.hpp: one line on the terminal that says how far the pass is. Makes no heap call.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

#include "trainer/program/config.hpp"

namespace drey::trainer {
/// Draws to standard error, ten times a second at most. Threads: one at a time.
class ProgressBar {
 public:
  /// Automatic: drawn when standard error is a terminal.
  explicit ProgressBar(ProgressMode mode);

  /// A pass of `steps` environment steps begins, of which `done` were done by an earlier run.
  void begin(std::uint64_t pass, std::uint64_t pass_count, std::uint64_t steps, std::uint64_t done);
  /// One step more. Cost: an addition; every 64th call looks at the clock.
  void step() {
    ++done_;
    if (is_on_ && done_ % kStepsPerLook == 0) draw_if_due();
  }
  /// Removes the line, so that another can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kStepsPerLook = 64;

  void draw_if_due();

  bool is_on_;
  std::uint64_t pass_ = 0;
  std::uint64_t pass_count_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t done_before_ = 0;
  Clock::time_point began_;
  Clock::time_point drawn_;
};
}  // namespace drey::trainer
