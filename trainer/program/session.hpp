// session.hpp: a training run: passes over the training bars, each followed by validation, a row of
// metrics and perhaps a checkpoint.
// Invariant: a run that stops at any step and goes on from its checkpoint ends with the same
// weights as one that never stopped. Read next: session.cpp, checkpoint.hpp, report.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "trainer/agent/agent.hpp"
#include "trainer/agent/evaluation.hpp"
#include "trainer/environments/market.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/metrics.hpp"
#include "trainer/program/progress.hpp"
#include "trainer/program/training_state.hpp"

namespace drey::trainer {
/// The agent for a market: network 225-128-64-3 and the given hyperparameters.
[[nodiscard]] AgentSettings agent_settings(const Hyperparameters& hyper,
                                           std::uint64_t steps_per_pass);

/// What a run cost and found.
struct SessionResult {
  std::uint64_t gradient_steps = 0;  ///< of this run alone, as the next
  std::uint64_t environment_steps = 0;
  double train_seconds = 0;               ///< in steps, not in validation or files
  std::uint64_t heap_calls_in_steps = 0;  ///< after warm-up; 0 too when nobody counts
  bool interrupted = false;
  Evaluation evaluation;
};

/// Threads: one at a time.
class Session {
 public:
  /// Requires: `market` is normalised and outlives this; `resume` is null or its checkpoint,
  /// checked against the market. Fails: CheckpointError.
  Session(const Config& config, const Market& market, const Checkpoint* resume);

  /// Trains until --epochs or --max-steps or an interrupt. Writes metrics and checkpoints.
  /// Fails: SystemError; ConfigError when the loss is not finite any more.
  SessionResult run();

  [[nodiscard]] Agent& agent() { return agent_; }

 private:
  bool play_pass(SessionResult& result);
  void finish_pass(const SessionResult& result, double seconds, std::uint64_t steps);
  void save_checkpoint();
  [[nodiscard]] bool limit_reached() const;

  const Config& config_;
  const Market& market_;
  Agent agent_;
  Trading world_;
  Trading validation_;
  TrainingState state_;
  MetricsFile metrics_;
  ProgressBar progress_;
  bool is_warm_ = false;  ///< a gradient step was made: all that is built lazily exists
};
}  // namespace drey::trainer
