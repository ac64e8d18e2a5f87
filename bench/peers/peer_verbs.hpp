// peer_verbs.hpp: `drey-bench peers`, `programs` and `pools`, from options to reports.
// Read next: peer_verbs.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/peer_options.hpp"
#include "race/machine.hpp"

namespace drey::bench {
/// Returns: 0; 1 if a contender failed in a case. Missed targets are figures, not failures.
[[nodiscard]] int run_peers(const CaseRaceOptions& options, const Machine& machine);
[[nodiscard]] int run_pools(const CaseRaceOptions& options, const Machine& machine);
[[nodiscard]] int run_programs(const ProgramRaceOptions& options, const Machine& machine);
}  // namespace drey::bench
