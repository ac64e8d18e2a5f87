// pool_targets.hpp: what each figure of drey-pool-cases is held against. The one place where the
// targets of the pools stand; each becomes a row of its own behind the row it is about.
// Read next: pool_targets.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"

#include <string>

namespace drey::bench {
/// An empty row without a target for a figure, as "cpu_ns" of "vector/pair".
[[nodiscard]] Row pool_row(const std::string& group, const std::string& name,
                           const std::string& figure);

/// Adds the row, then one for each target of that case and figure: the samples it speaks of.
void add_rows_with_targets(const std::string& case_name, const std::string& figure, const Row& row,
                           HeadToHead& results);

/// Adds one goal over all judged rows of each group.
void sum_up_pools(HeadToHead& results);
}  // namespace drey::bench
