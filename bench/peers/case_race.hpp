// case_race.hpp: the cases of drey-peer-cases, one after another; of each case all contenders in
// turn, each in a process of its own, round by round in rotated order.
//
// Cases of one thread are bound to one core. Memory cases, whose figures hardly scatter and which
// wait for seconds, run in two rounds at most.
// Read next: case_race.cpp, case_targets.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"
#include "peers/peer_options.hpp"

namespace drey::bench {
/// Fails: BadInput if no case is wanted or a program is missing; RaceFailed if a process says
/// something impossible. A case that a contender does not survive is recorded, the others go on.
[[nodiscard]] HeadToHead race_cases(const CaseRaceOptions& options, Machine machine);
}  // namespace drey::bench
