// step_race.hpp: gradient steps a second of drey on every instruction set and of a naive trainer,
// run in turn on the same batches; of libtorch too, in a program of its own, where there is one.
// Read next: step_race.cpp, naive_trainer.hpp, guest.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/machine.hpp"

namespace drey::bench {
struct StepRaceOptions {
  double seconds = 0.5;  ///< CPU time of each racer in each round
  int rounds = 5;
  std::string json;   ///< file; empty: none
  std::string guest;  ///< see guest.hpp; empty: none takes part
};

/// Where a step's time goes. Units: microseconds, the best of all rounds.
struct StepPhases {
  double gather = 0;
  double forward = 0;
  double loss = 0;
  double backward = 0;
  double update = 0;
};

struct StepRacer {
  std::string name;  ///< "avx512 f32 double"
  bool double_dqn = false;
  bool is_guest = false;
  std::string how;  ///< of a guest
  bool has_phases = true;
  StepPhases phases;
  double act = 0;                        ///< microseconds for one observation
  std::vector<double> steps_per_second;  ///< by round
  double heap_calls = -1;                ///< of a step; -1: this program does not count them
};

struct StepRace {
  std::vector<StepRacer> racers;      ///< the naive trainer is the last
  std::vector<std::string> refusals;  ///< a line for each guest that failed; it is no racer then
};

StepRace race_steps(const StepRaceOptions& options);
std::string step_race_text(const std::vector<StepRacer>& racers);
std::string step_race_json(const std::vector<StepRacer>& racers, const StepRaceOptions& options,
                           const Machine& machine);
}  // namespace drey::bench
