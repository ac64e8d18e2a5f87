// simulated_problem.hpp: training in a world that is computed as it goes: CartPole, or a user's own
// (examples/own_environment.cpp). Such a world is constructed from the ring that it writes its
// observations to.
// Read next: vector_problem.hpp, environments/cart_pole.hpp, environment_list.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trainer/environments/observation_ring.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/episode_report.hpp"
#include "trainer/program/vector_problem.hpp"

namespace drey::trainer {
/// What simulated_environment() asks of a world beyond ResumableEnvironment.
template <class World>
concept SimulatedEnvironment =
    ResumableEnvironment<World> && std::constructible_from<World, ObservationRing&> && requires {
  { World::kObservationWidth } -> std::convertible_to<std::size_t>;
};

/// Held by the problem before its worlds, which point into it.
struct RingHolder {
  explicit RingHolder(const Hyperparameters& hyper, std::size_t width)
      : ring(width, hyper.buffer, hyper.environments, hyper.step_count) {}
  ObservationRing ring;
};

template <SimulatedEnvironment World>
class SimulatedProblem final : private RingHolder, public VectorProblem<World> {
 public:
  SimulatedProblem(std::string name, const Hyperparameters& hyper)
      : RingHolder(hyper, World::kObservationWidth),
        VectorProblem<World>(std::vector<World>(hyper.environments, World(RingHolder::ring)),
                             hyper.seed, hyper.reward_scale),
        name_(std::move(name)),
        pass_steps_((hyper.pass_steps + hyper.environments - 1) / hyper.environments *
                    hyper.environments),
        evaluation_ring_(World::kObservationWidth, 1),
        evaluation_world_(evaluation_ring_),
        evaluation_seed_(~hyper.seed),
        evaluation_episodes_(hyper.evaluation_episodes) {
    this->start();
  }

  [[nodiscard]] std::uint64_t steps_per_pass() const override { return pass_steps_; }

  /// Mean return of the episodes that ended; 0 when none did.
  [[nodiscard]] double train_return(const RoundTotals& totals) const override {
    return totals.episodes == 0 ? 0.0
                                : totals.episode_return / static_cast<double>(totals.episodes);
  }

  /// Mean return of the evaluation's episodes: always the same ones, which training does not see.
  double evaluate(GreedyPolicy& policy) override {
    report_ = {};
    for (std::uint64_t episode = 0; episode < evaluation_episodes_; ++episode) {
      report_.add(play_greedy_episode(policy, evaluation_world_,
                                      episode_seed(evaluation_seed_, 0, episode)));
    }
    return report_.mean();
  }

  void save(TensorWriter& writer) const override {
    this->save_worlds(writer);
    save_ring(writer, ring);
  }
  void restore(const TensorReader& reader) override {
    restore_ring(reader, ring);
    this->restore_worlds(reader);
  }

  void add_memory(MemoryTable& table) const override {
    table.add("observations", ring.table().rows * ring.table().stride * sizeof(float));
  }
  [[nodiscard]] ReturnUnit return_unit() const override { return {1, ""}; }
  void log_start() const override { log_simulation(name_, this->worlds().size(), pass_steps_); }
  void log_evaluation() const override { report_.log(); }
  void describe(nlohmann::json& data, nlohmann::json& evaluation) const override {
    describe_simulation(name_, data);
    report_.describe(evaluation);
  }

 private:
  std::string name_;
  std::uint64_t pass_steps_;
  ObservationRing evaluation_ring_;
  World evaluation_world_;
  std::uint64_t evaluation_seed_;
  std::uint64_t evaluation_episodes_;
  EpisodeReport report_;
};
}  // namespace drey::trainer
