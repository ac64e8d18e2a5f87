// pool_race.hpp: the cases of drey-pool-cases, each in every way there is, each in a process of its
// own, round by round in rotated order.
//
// Contenders: "drey" is drey's pools; "system", "drey_malloc", "mimalloc" and --peer libraries are
// malloc and free of that library; the others are pools of other libraries, on the system's malloc.
// Invariant: contenders[0] is drey, the second the system's malloc (head_to_head.hpp).
// Read next: pool_race.cpp, pool_targets.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"
#include "peers/peer_options.hpp"

namespace drey::bench {
/// Fails: BadInput if no case is wanted or a program is missing; RaceFailed if a process says
/// something impossible. A case that a contender does not survive is recorded, the others go on.
[[nodiscard]] HeadToHead race_pools(const CaseRaceOptions& options, Machine machine);
}  // namespace drey::bench
