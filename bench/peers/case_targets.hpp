// case_targets.hpp: what each figure of a case is called, in which unit it is shown, and what it is
// held against. The one place where the targets of the cases stand.
// Read next: case_targets.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"

#include <string>

namespace drey::bench {
/// An empty row for a figure that drey-peer-cases reported, as "cpu_ns" of "pair/64".
[[nodiscard]] Row row_for(const std::string& group, const std::string& name,
                          const std::string& figure);

/// The factor to the unit it is shown in.
[[nodiscard]] double shown_factor(const std::string& figure);

/// Whether the row is part of the mean over all timed cases.
[[nodiscard]] bool is_timed_case(const Row& row);

/// Fills in means and goals from the rows.
void sum_up_cases(HeadToHead& results);
}  // namespace drey::bench
