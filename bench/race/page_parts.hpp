// page_parts.hpp: the two large sections of the page.
// Read next: page_parts.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/results.hpp"

#include <string>

namespace drey::bench {
/// Bars of time, steps, memory and heap calls; empty if no trainer ran.
[[nodiscard]] std::string trainer_section(const RaceResults& results);

/// Ratios of all cases at a glance, bars of each, and the table; empty if none ran.
[[nodiscard]] std::string micro_section(const RaceResults& results);
}  // namespace drey::bench
