// verdict.hpp: how a row is judged. The minimum of the rounds stands for a contender: what disturbs a
// measurement only ever adds to it. The median is shown beside it.
//
// "within the spread": the verdict might be the other one in the next run, because the rounds' own
// ratios scatter by more than what is missing or left.
// Read next: verdict.cpp, goals.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"

#include <functional>
#include <optional>
#include <string>

namespace drey::bench {
/// Nothing where the contender has no samples.
[[nodiscard]] std::optional<double> least(const Row& row, const std::string& name);
[[nodiscard]] std::optional<double> median(const Row& row, const std::string& name);

/// The contender other than drey with the least minimum; empty if there is none.
[[nodiscard]] std::string best_peer(const Row& row);

using Statistic = std::optional<double> (*)(const Row&, const std::string&);

/// Statistic of `name` over statistic of `other`, if both have samples and the row has ratios.
[[nodiscard]] std::optional<double> ratio_of(const Row& row, const std::string& name,
                                             const std::string& other, Statistic statistic = least);

struct Verdict {
  bool is_met = false;
  bool is_within_spread = false;
  double figure = 0;  ///< what the target's limit is compared with

  /// "met 0.93", "missed 1.07 (within the spread)"
  [[nodiscard]] std::string text() const;
};

/// Nothing if the row has no target or drey no samples. A row without peers to beat is not judged.
[[nodiscard]] std::optional<Verdict> judge(const Row& row);

/// Geometric mean of the contender's ratios to the reference over the rows that `is_wanted` and that
/// both have; 0 if there are none.
[[nodiscard]] double mean_to(const HeadToHead& results, const std::string& name,
                             const std::string& reference,
                             const std::function<bool(const Row&)>& is_wanted);
}  // namespace drey::bench
