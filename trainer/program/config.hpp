// config.hpp: everything that can be set, with its default, unit and meaning, in one table.
// The table is walked by the command line, by --help, and by checkpoints, so none can forget a row.
// Invariant: two runs with equal Hyperparameters, data and binary end with the same weights.
// Read next: command_line.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace drey::trainer {
/// What decides the result. Stored in checkpoints.
struct Hyperparameters {
  std::uint64_t seed = 1;
  std::uint64_t batch = 128;
  std::uint64_t buffer = 100000;
  std::uint64_t learning_starts = 1000;
  std::uint64_t train_frequency = 1;
  double learning_rate = 1e-4;
  double gamma = 0.99;
  double tau = 0.001;
  double grad_clip = 10;
  double epsilon_start = 1;
  double epsilon_end = 0.05;
  double epsilon_fraction = 0.5;
  std::uint64_t epsilon_horizon = 10;
  double fee = 0.0001;
  double reward_scale = 100;
  double validation_fraction = 0.2;
  bool double_dqn = true;

  bool operator==(const Hyperparameters&) const = default;
};

enum class ProgressMode : std::uint8_t { kAutomatic, kOn, kOff };

/// What decides how far the run goes and what it leaves behind. Empty names mean no file.
struct RunOptions {
  std::string data;
  std::string symbol;
  std::uint64_t epochs = 0;
  std::uint64_t steps_max = 0;  ///< gradient steps; 0 is no limit
  std::string checkpoint;
  std::uint64_t checkpoint_every = 1;
  std::string resume;
  std::string metrics;
  std::string stats_json;
  bool evaluate_only = false;
  ProgressMode progress = ProgressMode::kAutomatic;
};

struct Config {
  Hyperparameters hyper;
  RunOptions run;
};

/// A number's bounds, both included, and its row of --help.
template <class Number>
struct Limits {
  Number low;
  Number high;
};

/// Calls row(option, value, limits, unit, sentence) for every number of the hyperparameters.
template <class Hyper, class Row>
void for_each_hyperparameter(Hyper& hyper, Row&& row) {
  using Count = Limits<std::uint64_t>;
  using Real = Limits<double>;
  constexpr std::uint64_t kMany = 1'000'000'000;
  row("--seed", hyper.seed, Count{0, UINT64_MAX}, "", "Start of every random sequence.");
  row("--batch", hyper.batch, Count{1, 65536}, "transitions", "Size of a gradient step.");
  row("--buffer", hyper.buffer, Count{1, kMany / 10}, "transitions",
      "Replay capacity, 16 bytes each.");
  row("--learning-starts", hyper.learning_starts, Count{1, kMany}, "steps",
      "Environment steps before the first gradient step.");
  row("--train-frequency", hyper.train_frequency, Count{1, kMany}, "steps",
      "Environment steps per gradient step.");
  row("--lr", hyper.learning_rate, Real{1e-12, 1}, "", "Adam's learning rate.");
  row("--gamma", hyper.gamma, Real{0, 1}, "", "Value of a reward one bar later.");
  row("--tau", hyper.tau, Real{0, 1}, "", "Part of the way the target network goes each step.");
  row("--grad-clip", hyper.grad_clip, Real{1e-9, 1e9}, "", "Largest norm of a gradient.");
  row("--eps-start", hyper.epsilon_start, Real{0, 1}, "", "Share of random actions at first.");
  row("--eps-end", hyper.epsilon_end, Real{0, 1}, "", "Share of random actions in the end.");
  row("--eps-fraction", hyper.epsilon_fraction, Real{0, 1}, "",
      "Part of --eps-horizon over which the share falls.");
  row("--eps-horizon", hyper.epsilon_horizon, Count{1, 1'000'000}, "epochs",
      "Length of the exploration plan; not --epochs, so that a resumed run can be longer.");
  row("--fee", hyper.fee, Real{0, 0.5}, "", "Cost of a trade, as a fraction of its value.");
  row("--reward-scale", hyper.reward_scale, Real{1e-9, 1e9}, "",
      "Factor of the rewards that the network sees: 100 makes them percent.");
  row("--val-fraction", hyper.validation_fraction, Real{0.01, 0.99}, "",
      "Last part of the bars, kept for validation.");
}
}  // namespace drey::trainer
