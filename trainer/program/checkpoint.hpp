// checkpoint.hpp: a run in a file, such that going on from it is as if it had never stopped.
// A safetensors file: network.*, target.* and Adam's moments by layer in PyTorch's shapes,
// normaliser.*, replay.*; the metadata hold hyperparameters, counters, random states, feature
// names. Invariant: what was read is checked against data and shapes before any of it is used. Read
// next: checkpoint_writer.cpp, checkpoint_reader.cpp, files/safetensors.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <set>
#include <string>

#include "trainer/agent/agent.hpp"
#include "trainer/environments/market.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/files/safetensors.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/training_state.hpp"

namespace drey::trainer {
/// The bytes of a checkpoint of everything that decides the rest of the run.
[[nodiscard]] std::string checkpoint_contents(const Hyperparameters& hyper, const Market& market,
                                              Agent& agent, const Trading& world,
                                              const TrainingState& state);

/// A checkpoint that was read. Every fault is a CheckpointError naming file, expected and found.
class Checkpoint {
 public:
  /// Fails: SystemError, or CheckpointError when it is no checkpoint of this program or was made
  /// for another number or order of features.
  explicit Checkpoint(const std::string& path);
  ~Checkpoint();

  /// Fills in the hyperparameters whose options are not in `given`.
  /// Fails: with `must_agree`, when one that was given differs from the checkpoint's.
  void adopt_hyperparameters(Hyperparameters& hyper, const std::set<std::string>& given,
                             bool must_agree) const;
  [[nodiscard]] Normaliser normaliser() const;
  /// Fails: when the bars are not those that the run was made with.
  void check_data(const Market& market) const;
  void restore_network(Learner& learner) const;
  /// Requires: agent and world were made from the adopted hyperparameters and the checked data.
  void restore(Agent& agent, Trading& world, TrainingState& state) const;

 private:
  void check_features() const;
  void restore_replay(Agent& agent, const Trading& world) const;

  TensorReader reader_;
  std::unique_ptr<const nlohmann::json> state_;
};
}  // namespace drey::trainer
