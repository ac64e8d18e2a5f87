// program_race.hpp: whole programs under each contender, interleaved: CPU time (user and system),
// peak resident memory and page faults, as the kernel counts them for the program alone.
//
// A program that is linked statically or starts others by a cleared environment keeps its own
// malloc: no proof is possible there, only that the library can be preloaded on this system.
// Read next: program_race.cpp, program_list.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"
#include "peers/peer_options.hpp"

namespace drey::bench {
/// Fails: BadInput for the list of programs; a program that a contender does not survive is
/// recorded, the others go on.
[[nodiscard]] HeadToHead race_programs(const ProgramRaceOptions& options, Machine machine);
}  // namespace drey::bench
