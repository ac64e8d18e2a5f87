// race.hpp: runs the racers, interleaved: A B C, B C A, C A B, ... so that none always comes first.
//
// Each fills its part of the results, and refuses racers that are not who they claim to be: their
// samples are dropped, the refusal is recorded, the others go on.
// Read next: trainer_race.cpp, micro_race.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/results.hpp"

namespace drey::bench {
/// Racers' places in the given round (from 0): rotated by one each round.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t racer_count, int round);

/// Fails: RaceFailed if a trainer fails or does other work than the rest; BadInput if it exits with
/// 2, which says that what the user gave it is wrong.
void race_trainers(RaceResults& results);

/// Fails: RaceFailed.
void race_micro(RaceResults& results);

/// The names of the micro cases of a program that match the regular expression, in its order.
[[nodiscard]] std::vector<std::string> list_micro_cases(const std::filesystem::path& program,
                                                        const std::string& filter);

/// One line of progress on a terminal's standard error; nothing elsewhere.
void show_progress(const std::string& text);
}  // namespace drey::bench
