// goals.hpp: sentences about many rows at once, with their figure and verdict, and the geometric
// means they rest on. Rows that were not measured make no sentence.
// Read next: goals.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"

#include <functional>
#include <string>

namespace drey::bench {
/// Adds the contenders' means over the rows that are wanted, if there are any.
void add_mean(HeadToHead& results, const std::string& title,
              const std::function<bool(const Row&)>& is_wanted);

/// "N of M, worst 1.23 (name)": met if every judged row of those wanted is.
void add_goal_of_rows(HeadToHead& results, const std::string& sentence,
                      const std::function<bool(const Row&)>& is_wanted);

/// drey's mean of that title is at most `limit` times the reference's.
void add_goal_of_mean(HeadToHead& results, const std::string& title, double limit);

/// drey's time in the rows whose names start with `prefix` is flat: none is farther than `part` from
/// the median of them.
void add_goal_of_flatness(HeadToHead& results, const std::string& prefix, double part);

/// "1.05"
[[nodiscard]] std::string limit_text(double limit);
}  // namespace drey::bench
