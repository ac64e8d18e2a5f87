// vector_problem.hpp: the part of a problem that is the same for all worlds: rounds, and the states
// of worlds and episodes in checkpoints.
// Read next: problem.hpp, agent/play.hpp, program/world_tensors.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "trainer/environments/vector_environment.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/world_tensors.hpp"

namespace drey::trainer {
template <ResumableEnvironment World>
class VectorProblem : public Problem {
 public:
  [[nodiscard]] std::size_t observation_width() const final { return worlds_.table().width; }
  [[nodiscard]] std::size_t action_count() const final { return World::kActionCount; }
  [[nodiscard]] std::size_t row_end() const final { return worlds_.table().rows; }
  [[nodiscard]] ObservationTable observations() const final { return worlds_.table(); }

  void play_round(Agent& agent, RoundTotals& totals) final {
    drey::trainer::play_round(agent, worlds_, reward_scale_, buffers_, totals);
  }

 protected:
  VectorProblem(std::vector<World> worlds, std::uint64_t seed, double reward_scale)
      : worlds_(std::move(worlds), seed), buffers_(worlds_.size()), reward_scale_(reward_scale) {}

  [[nodiscard]] const VectorEnvironment<World>& worlds() const { return worlds_; }
  void start() { worlds_.start(); }

  void save_worlds(TensorWriter& writer) const {
    WorldTensors tensors(World::kStateSize);
    for (std::size_t index = 0; index < worlds_.size(); ++index) {
      tensors.add(worlds_.world(index).state(), worlds_.episode(index));
    }
    tensors.save(writer);
  }

  void restore_worlds(const TensorReader& reader) {
    const WorldTensors tensors(reader, worlds_.size(), World::kStateSize, row_end());
    for (std::size_t index = 0; index < worlds_.size(); ++index) {
      std::array<double, World::kStateSize> state{};
      const std::span<const double> stored = tensors.state(index);
      std::copy(stored.begin(), stored.end(), state.begin());
      if (!worlds_.world(index).restore(state)) {
        reader.refuse("a state of world " + std::to_string(index), "another");
      }
      worlds_.restore(index, tensors.episode(index));
    }
  }

 private:
  VectorEnvironment<World> worlds_;
  RoundBuffers buffers_;
  double reward_scale_;
};
}  // namespace drey::trainer
