// vector_environment.hpp: worlds stepped together, so that one forward pass acts for all of them.
// Invariants: all worlds share one table of observations; a step's result shows the last
// observation of the episode that ended, never the first one of the next (a replay that shares rows
// would else learn that the end of one episode leads to the start of another); with one world the
// steps are those of the plain loop. Read next: environment.hpp, agent/play.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"

#include <drey/base/assert.hpp>

#include <span>
#include <utility>
#include <vector>

namespace drey::trainer {
/// What is known of one world between two steps.
struct Episode {
  ObservationRow observation = 0;  ///< what the world shows
  std::uint64_t number = 0;        ///< from 0 on
  double episode_return = 0;       ///< so far
};

/// Threads: one at a time. Cost of a step: that of its worlds; no heap call.
template <Environment World>
class VectorEnvironment {
 public:
  static constexpr std::size_t kActionCount = World::kActionCount;

  /// Requires: one world at least, all of one table. Call start() or restore() next.
  VectorEnvironment(std::vector<World> worlds, std::uint64_t seed)
      : worlds_(std::move(worlds)),
        seed_(seed),
        episodes_(worlds_.size()),
        ended_returns_(worlds_.size()),
        shown_(worlds_.size()),
        results_(worlds_.size()) {
    DREY_ASSERT(!worlds_.empty());
    for (const World& world : worlds_) {
      DREY_ASSERT(world.observations().values == worlds_.front().observations().values);
    }
  }

  /// Begins the first episode of every world.
  void start() {
    for (std::size_t index = 0; index < worlds_.size(); ++index) begin_episode(index, 0);
  }

  /// Steps world i by actions[i]; a world whose episode ends is reset. Returns: the steps' results,
  /// with the last observations of what ended; observations() shows the new first ones.
  std::span<const StepResult> step(std::span<const Action> actions) {
    DREY_ASSERT(actions.size() == worlds_.size());
    for (std::size_t index = 0; index < worlds_.size(); ++index) {
      const StepResult result = worlds_[index].step(actions[index]);
      results_[index] = result;
      episodes_[index].episode_return += result.reward;
      if (result.ended()) {
        ended_returns_[index] = episodes_[index].episode_return;
        begin_episode(index, episodes_[index].number + 1);
      } else {
        show(index, result.observation);
      }
    }
    return results_;
  }

  [[nodiscard]] std::size_t size() const { return worlds_.size(); }
  [[nodiscard]] ObservationTable table() const { return worlds_.front().observations(); }
  /// What each world shows now. Valid until the next step.
  [[nodiscard]] std::span<const ObservationRow> observations() const { return shown_; }
  [[nodiscard]] World& world(std::size_t index) { return worlds_[index]; }
  [[nodiscard]] const World& world(std::size_t index) const { return worlds_[index]; }
  [[nodiscard]] const Episode& episode(std::size_t index) const { return episodes_[index]; }

  /// Return of the last episode that ended. Requires: one did.
  [[nodiscard]] double ended_return(std::size_t index) const { return ended_returns_[index]; }

  /// Takes over what episode(index) returned; the world itself is restored by its own member.
  void restore(std::size_t index, const Episode& episode) {
    episodes_[index] = episode;
    shown_[index] = episode.observation;
  }

 private:
  void begin_episode(std::size_t index, std::uint64_t number) {
    episodes_[index].number = number;
    episodes_[index].episode_return = 0;
    show(index, worlds_[index].reset(episode_seed(seed_, index, number)));
  }

  void show(std::size_t index, ObservationRow observation) {
    episodes_[index].observation = observation;
    shown_[index] = observation;
  }

  std::vector<World> worlds_;
  std::uint64_t seed_;
  std::vector<Episode> episodes_;
  std::vector<double> ended_returns_;
  std::vector<ObservationRow> shown_;  ///< episodes_[i].observation, side by side
  std::vector<StepResult> results_;
};
}  // namespace drey::trainer
