// environment_list.hpp: what --env can name, and how each is made.
// A program of one's own adds to the list: see examples/own_environment.cpp.
// Read next: problem.hpp, simulated_problem.hpp, trainer_main.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "trainer/program/config.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/simulated_problem.hpp"

namespace drey::trainer {
struct EnvironmentEntry {
  std::string name;
  /// From the settings and, when a run is resumed, its checkpoint, else null. Fails: Error.
  std::function<std::unique_ptr<Problem>(const Config&, const TensorReader* checkpoint)> make;
};

/// An entry for a world that writes its observations to a ring.
template <SimulatedEnvironment World>
[[nodiscard]] EnvironmentEntry simulated_environment(const std::string& name) {
  return {name, [name](const Config& config, const TensorReader* /*checkpoint*/) {
            return std::unique_ptr<Problem>(new SimulatedProblem<World>(name, config.hyper));
          }};
}

/// The problem of --env: trading, cartpole, or one of `more`.
/// Fails: ConfigError for another name; what making it fails with.
[[nodiscard]] std::unique_ptr<Problem> make_problem(const Config& config,
                                                    const TensorReader* checkpoint,
                                                    std::span<const EnvironmentEntry> more);
}  // namespace drey::trainer
