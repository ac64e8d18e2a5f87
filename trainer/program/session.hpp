// session.hpp: a training run: passes over a problem, each followed by what is due: an evaluation,
// the observers, checkpoints.
// Invariant: a run that stops between two rounds and goes on from its checkpoint ends with the same
// weights as one that never stopped.
// Read next: session.cpp, problem.hpp, pass_record.hpp, checkpoint.hpp, report.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/agent/agent.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/pass_record.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/progress.hpp"
#include "trainer/program/training_state.hpp"

namespace drey::trainer {
/// The agent for a problem and the given hyperparameters.
[[nodiscard]] AgentSettings agent_settings(const Hyperparameters& hyper, const Problem& problem);
/// With the memory forms, threads and ranks of a run. Fails: ConfigError when they do not fit.
[[nodiscard]] AgentSettings agent_settings(const Config& config, const Problem& problem,
                                           Communicator* ranks);

/// What a run cost.
struct SessionResult {
  std::uint64_t gradient_steps = 0;  ///< of this run alone, as the next
  std::uint64_t environment_steps = 0;
  double passes = 0;                      ///< an unfinished one counts as a part
  double train_seconds = 0;               ///< in steps, not in evaluation or files
  std::uint64_t heap_calls_in_steps = 0;  ///< after warm-up; 0 too when nobody counts
  bool interrupted = false;
};

/// Threads: one at a time.
class Session {
 public:
  /// Requires: `problem` outlives this; `resume` is null or the checkpoint that it was made with;
  /// `ranks` is null or outlives this, and then all ranks make the same calls.
  /// Fails: CheckpointError; ConfigError when memory options do not fit.
  Session(const Config& config, Problem& problem, const Checkpoint* resume,
          Communicator* ranks = nullptr);

  /// Tells it of every pass from now on, in the order of the calls.
  void add_observer(std::unique_ptr<PassObserver> observer);

  /// Trains until --epochs or --max-steps or --early-stop or an interrupt, then evaluates. Writes
  /// checkpoints. Fails: SystemError; ConfigError when the loss is not finite any more.
  SessionResult run();

  [[nodiscard]] Agent& agent() { return agent_; }
  [[nodiscard]] const TrainingState& state() const { return state_; }

 private:
  bool play_pass(SessionResult& result);
  void finish_pass(double seconds, std::uint64_t gradient_steps);
  void evaluate(PassRecord& record);
  void save_checkpoint(bool is_best, bool is_due);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] bool is_stale() const;

  const Config& config_;
  Problem& problem_;
  Communicator* ranks_;
  Agent agent_;
  TrainingState state_;
  std::vector<std::unique_ptr<PassObserver>> observers_;
  ProgressBar progress_;
  bool is_warm_ = false;       ///< a gradient step was made: all that is built lazily exists
  bool is_evaluated_ = false;  ///< the problem's evaluation is of the weights as they are
};
}  // namespace drey::trainer
