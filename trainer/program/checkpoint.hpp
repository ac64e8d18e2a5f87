// checkpoint.hpp: a run in a file, such that going on from it is as if it had never stopped.
// A safetensors file: network.*, target.* and Adam's moments by layer in PyTorch's shapes (of the
// further members of an ensemble with agent1., agent2., ... before them),
// replay.*, window.*, and what the problem adds (worlds, normaliser); the metadata hold
// hyperparameters, counters and random states. Invariant: what was read is checked against data and
// shapes before any of it is used. Read next: checkpoint_writer.cpp, checkpoint_reader.cpp,
// replay_tensors.hpp, problem.hpp, files/safetensors.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <set>
#include <string>

#include "trainer/agent/agent.hpp"
#include "trainer/files/safetensors.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/training_state.hpp"

namespace drey::trainer {
/// The bytes of a checkpoint of everything that decides the rest of the run.
[[nodiscard]] std::string checkpoint_contents(const Hyperparameters& hyper, const Problem& problem,
                                              Agent& agent, const TrainingState& state);

/// A checkpoint that was read. Every fault is a CheckpointError naming file, expected and found.
class Checkpoint {
 public:
  /// Fails: SystemError, or CheckpointError when it is no checkpoint of this program and format.
  explicit Checkpoint(const std::string& path);
  ~Checkpoint();

  /// Fills in the hyperparameters whose options are not in `given`.
  /// Fails: with `must_agree`, when one that was given differs from the checkpoint's.
  void adopt_hyperparameters(Hyperparameters& hyper, const std::set<std::string>& given,
                             bool must_agree) const;
  [[nodiscard]] const TensorReader& tensors() const { return reader_; }
  /// Of all members. Requires: an agent made from the adopted hyperparameters.
  void restore_networks(Agent& agent) const;
  /// Requires: agent and problem were made from the adopted hyperparameters.
  void restore(Agent& agent, Problem& problem, TrainingState& state) const;

 private:
  void restore_members(Agent& agent) const;
  void restore_counters(Agent& agent, TrainingState& state) const;

  TensorReader reader_;
  std::unique_ptr<const nlohmann::json> state_;
};
}  // namespace drey::trainer
