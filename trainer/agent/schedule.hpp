// schedule.hpp: a number that changes over the steps of a run: epsilon, learning rate, beta.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

namespace drey::trainer {
enum class ScheduleShape : std::uint8_t { kConstant, kLinear, kCosine };

/// From `start` to `end` over `steps` environment steps, then `end`; constant: always `start`.
struct Schedule {
  float start = 1.0f;
  float end = 0.05f;
  std::uint64_t steps = 10000;  ///< environment steps
  ScheduleShape shape = ScheduleShape::kLinear;

  /// Source of the cosine: Loshchilov, Hutter, "SGDR", 2017, equation 5, without restarts.
  [[nodiscard]] float at(std::uint64_t step) const {
    if (shape == ScheduleShape::kConstant) return start;
    if (step >= steps) return end;
    double part = static_cast<double>(step) / static_cast<double>(steps);
    if (shape == ScheduleShape::kCosine) part = 0.5 * (1.0 - std::cos(kPi * part));
    return static_cast<float>(static_cast<double>(start) +
                              part * (static_cast<double>(end) - static_cast<double>(start)));
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;
};
}  // namespace drey::trainer
