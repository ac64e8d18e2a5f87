// progress.hpp: one line on the terminal that says how far the pass is. Makes no heap call.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

#include "trainer/program/config.hpp"

namespace drey::trainer {
/// Where a run is when a pass begins.
struct PassPlace {
  std::uint64_t pass;        ///< from 1 on
  std::uint64_t pass_count;  ///< of the run
  std::uint64_t steps;       ///< environment steps of each pass
  std::uint64_t done;        ///< of this pass, by an earlier run
};

/// Draws to standard error, ten times a second at most. Threads: one at a time.
class ProgressBar {
 public:
  /// Automatic: drawn when standard error is a terminal.
  explicit ProgressBar(ProgressMode mode);

  void begin(const PassPlace& place);
  /// `count` steps more. Cost: two additions; every 64th call looks at the clock.
  void step(std::uint64_t count) {
    done_ += count;
    ++calls_;
    if (is_on_ && calls_ % kCallsPerLook == 0) draw_if_due();
  }
  /// Removes the line, so that another can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kCallsPerLook = 64;

  void draw_if_due();

  bool is_on_;
  PassPlace place_{};
  std::uint64_t done_ = 0;
  std::uint64_t calls_ = 0;
  Clock::time_point began_;
  Clock::time_point drawn_;
};
}  // namespace drey::trainer
