// config.hpp: everything that can be set, with its default, limits, unit and meaning, in two tables.
// The tables are walked by the command line, --help, TOML files, --dump-config and checkpoints, so
// none can forget a row, and a new option is one member and one row.
// Invariant: two runs with equal Hyperparameters, data, binary and device end with the same weights.
// Read next: option_value.hpp, command_line.hpp, config_file.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/agent/learner.hpp"
#include "trainer/agent/memory_forms.hpp"
#include "trainer/agent/n_step.hpp"
#include "trainer/agent/schedule.hpp"
#include "trainer/environments/raw_states.hpp"
#include "trainer/program/option_value.hpp"

namespace drey::trainer {
/// What decides the result. Stored in checkpoints.
struct Hyperparameters {
  std::string environment = "trading";
  std::uint64_t seed = 1;
  std::uint64_t environments = 1;
  std::uint64_t pass_steps = 1000;
  std::vector<std::uint64_t> hidden = {128, 64};
  std::uint64_t batch = 128;
  std::uint64_t buffer = 100000;
  std::uint64_t learning_starts = 1000;
  std::uint64_t train_frequency = 1;
  std::uint64_t gradient_steps = 1;
  double learning_rate = 1e-4;
  double learning_rate_end = 0;
  ScheduleShape learning_rate_shape = ScheduleShape::kConstant;
  std::uint64_t learning_rate_horizon = 10;
  double gamma = 0.99;
  bool double_dqn = true;
  bool dueling = false;
  std::uint64_t step_count = 1;
  bool prioritised = false;
  double priority_alpha = 0.6;
  double priority_beta = 0.4;
  std::uint64_t priority_horizon = 10;
  std::uint64_t agents = 1;
  Agreement agreement = Agreement::kMean;
  Loss loss = Loss::kHuber;
  double grad_clip = 10;
  Precision precision = Precision::kFloat;
  TargetUpdate target_update = TargetUpdate::kSoft;
  double tau = 0.001;
  std::uint64_t target_interval = 1000;
  double epsilon_start = 1;
  double epsilon_end = 0.05;
  ScheduleShape epsilon_shape = ScheduleShape::kLinear;
  double epsilon_fraction = 0.5;
  std::uint64_t epsilon_horizon = 10;
  std::uint64_t evaluate_every = 1;
  std::uint64_t evaluation_episodes = 10;
  double fee = 0.0001;
  double reward_scale = 100;
  double validation_fraction = 0.2;

  bool operator==(const Hyperparameters&) const = default;
};

enum class ProgressMode : std::uint8_t { kAutomatic, kOn, kOff };
enum class StatsForm : std::uint8_t { kNone, kJson };

/// What averages the gradients of several ranks.
enum class ReduceBy : std::uint8_t { kMpi, kNccl };

/// How memory is used. Every choice gives the same weights: those that are not the default are there
/// to be raced against it (scripts/seven-fixes).
struct MemoryOptions {
  ReplayForm replay = ReplayForm::kIndex;
  BatchForm batches = BatchForm::kReused;
  PolyakForm polyak = PolyakForm::kFused;
  AgentReplay agent_replay = AgentReplay::kShared;
  StatesForm states = StatesForm::kOnce;
  HistoryForm history = HistoryForm::kRing;
  MonitorForm monitor = MonitorForm::kWelford;

  /// No form that asks the heap in every step.
  [[nodiscard]] bool is_frugal() const {
    return (replay == ReplayForm::kIndex || replay == ReplayForm::kPool) &&
           batches == BatchForm::kReused && polyak == PolyakForm::kFused &&
           history == HistoryForm::kRing && monitor == MonitorForm::kWelford;
  }
};

/// What decides how far the run goes and what it leaves behind. Empty names mean no file.
struct RunOptions {
  std::string data;
  std::string symbol;
  std::uint64_t epochs = 0;
  std::uint64_t steps_max = 0;   ///< gradient steps; 0 is no limit
  std::uint64_t early_stop = 0;  ///< evaluations without a better one; 0 is no limit
  std::string checkpoint;
  std::string checkpoint_folder;
  std::uint64_t checkpoint_every = 1;
  std::string resume;
  std::string metrics;
  std::string stats_json;
  StatsForm stats = StatsForm::kNone;
  std::uint64_t threads = 1;
  DeviceChoice device;
  ReduceBy reduce = ReduceBy::kMpi;
  MemoryOptions memory;
  std::string report;
  std::string onnx;
  std::string tensorboard;
  bool evaluate_only = false;
  ProgressMode progress = ProgressMode::kAutomatic;
};

struct Config {
  Hyperparameters hyper;
  RunOptions run;
};

using Count = Limits<std::uint64_t>;
using Real = Limits<double>;
inline constexpr std::uint64_t kMany = 1'000'000'000;
inline constexpr Count kHorizon{1, 1'000'000};  // epochs
inline constexpr Words kShapes{"constant", "linear", "cosine"};
inline constexpr Words<2> kPrecisions{"f32", "bf16"};

/// The rows that say where the agent acts: environments, evaluation, fees.
template <class Hyper, class Row>
void for_each_world_option(Hyper& hyper, Row&& row) {
  row("--env", hyper.environment, Text{"NAME"}, "", "What the agent is put into.");
  row("--seed", hyper.seed, Count{0, UINT64_MAX}, "", "Start of every random sequence.");
  row("--envs", hyper.environments, Count{1, 1024}, "",
      "Environments stepped together, one forward pass for all.");
  row("--pass-steps", hyper.pass_steps, Count{1, kMany}, "steps",
      "Environment steps of an epoch, where the data do not say.");
  row("--eval-every", hyper.evaluate_every, Count{1, 1'000'000}, "epochs",
      "How often the greedy policy is evaluated.");
  row("--eval-episodes", hyper.evaluation_episodes, Count{1, 100'000}, "episodes",
      "Length of an evaluation, where the data do not say.");
  row("--fee", hyper.fee, Real{0, 0.5}, "", "Cost of a trade, as a fraction of its value.");
  row("--reward-scale", hyper.reward_scale, Real{1e-9, 1e9}, "",
      "Factor of the rewards that the network sees: 100 makes them percent.");
  row("--val-fraction", hyper.validation_fraction, Real{0.01, 0.99}, "",
      "Last part of the bars, kept for validation.");
}

/// The rows that say what is remembered and when it is learned from.
template <class Hyper, class Row>
void for_each_replay_option(Hyper& hyper, Row&& row) {
  row("--buffer", hyper.buffer, Count{1, kMany / 10}, "transitions",
      "Replay capacity, 16 bytes each.");
  row("--learning-starts", hyper.learning_starts, Count{1, kMany}, "steps",
      "Environment steps before the first gradient step.");
  row("--train-frequency", hyper.train_frequency, Count{1, kMany}, "steps",
      "Environment steps from one training to the next.");
  row("--gradient-steps", hyper.gradient_steps, Count{1, 10000}, "",
      "Gradient steps of one training.");
  row("--batch", hyper.batch, Count{1, 65536}, "transitions", "Size of a gradient step.");
  row("--n-step", hyper.step_count, Count{1, StepWindow::kStepsMax}, "steps",
      "Rewards taken as they came before the network estimates the rest.");
  row("--per", hyper.prioritised, Flag{"Draw all transitions equally often."}, "",
      "Prioritised replay: draw more often what the network was wrong about.");
  row("--per-alpha", hyper.priority_alpha, Real{0, 1}, "", "How much errors count; 0: not at all.");
  row("--per-beta", hyper.priority_beta, Real{0, 1}, "",
      "How much weights make up for it at first; goes to 1.");
  row("--per-horizon", hyper.priority_horizon, kHorizon, "epochs", "When it is 1.");
  row("--agents", hyper.agents, Count{1, kMembersMax}, "",
      "Agents that learn at once, each drawing in a way of its own, and act as one.");
  row("--agreement", hyper.agreement, Words{"mean", "vote"}, "",
      "How they do: the largest of the mean values, or the choice of most.");
}

/// The rows that say how often the agent acts at random.
template <class Hyper, class Row>
void for_each_exploration_option(Hyper& hyper, Row&& row) {
  row("--eps-start", hyper.epsilon_start, Real{0, 1}, "", "Share of random actions at first.");
  row("--eps-end", hyper.epsilon_end, Real{0, 1}, "", "Share of random actions in the end.");
  row("--eps-schedule", hyper.epsilon_shape, kShapes, "", "How it goes there.");
  row("--eps-fraction", hyper.epsilon_fraction, Real{0, 1}, "",
      "Part of --eps-horizon over which the share falls.");
  row("--eps-horizon", hyper.epsilon_horizon, kHorizon, "epochs",
      "Length of the exploration plan; not --epochs, so that a resumed run can be longer.");
}

/// The rows of network, targets and optimiser.
template <class Hyper, class Row>
void for_each_learner_option(Hyper& hyper, Row&& row) {
  row("--hidden", hyper.hidden, Widths{1, 4096, 8}, "", "Widths of the hidden layers.");
  row("--dueling", hyper.dueling, Flag{"One stream of values."}, "",
      "A stream for the value of a state, and one for the advantages of its actions.");
  row("--double", hyper.double_dqn, Flag{"DQN: the target network does both."}, "",
      "Double DQN: the network chooses, its target values.");
  row("--gamma", hyper.gamma, Real{0, 1}, "", "Value of a reward one step later.");
  row("--loss", hyper.loss, Words{"huber", "mse"}, "", "Loss of an error.");
  row("--grad-clip", hyper.grad_clip, Real{1e-9, 1e9}, "", "Largest norm of a gradient.");
  row("--precision", hyper.precision, kPrecisions, "",
      "Of products; bf16 needs a processor with it. Sums, weights and moments are f32.");
  row("--lr", hyper.learning_rate, Real{1e-12, 1}, "", "Adam's learning rate.");
  row("--lr-schedule", hyper.learning_rate_shape, kShapes, "", "How it goes to --lr-end.");
  row("--lr-end", hyper.learning_rate_end, Real{0, 1}, "", "Learning rate in the end.");
  row("--lr-horizon", hyper.learning_rate_horizon, kHorizon, "epochs",
      "When it is reached; not --epochs, so that a resumed run can be longer.");
  row("--target", hyper.target_update, Words{"soft", "hard"}, "",
      "The target network goes --tau of the way each step, or is a copy each --target-interval.");
  row("--tau", hyper.tau, Real{0, 1}, "", "Part of the way the target network goes each step.");
  row("--target-interval", hyper.target_interval, Count{1, kMany}, "gradient steps",
      "From one copy to the next.");
}

/// Calls row(option, value, kind, unit, sentence) for every hyperparameter.
template <class Hyper, class Row>
void for_each_hyperparameter(Hyper& hyper, Row&& row) {
  for_each_world_option(hyper, row);
  for_each_learner_option(hyper, row);
  for_each_replay_option(hyper, row);
  for_each_exploration_option(hyper, row);
}

inline constexpr Limits<std::uint64_t> kEpochLimits{1, 1'000'000};

/// Calls row(option, value, kind, unit, sentence) for every form that memory is used in.
template <class Memory, class Row>
void for_each_memory_option(Memory& memory, Row&& row) {
  row("--replay", memory.replay, Words{"index", "pool", "shared", "copy"}, "",
      "What a remembered transition holds: row numbers, pooled rows, or vectors.");
  row("--batch-buffers", memory.batches, Words{"reuse", "fresh"}, "",
      "Arrays of a batch: the same ones always, or new ones each time.");
  row("--polyak", memory.polyak, Words{"fused", "temporaries"}, "",
      "The target network's update: within Adam's pass, or by way of arrays.");
  row("--agent-replay", memory.agent_replay, Words{"shared", "own"}, "",
      "One replay for all --agents, or one each.");
  row("--states", memory.states, Words{"once", "each"}, "",
      "When features become normalised floats: once, or on each use, from doubles.");
  row("--history", memory.history, Words{"ring", "erase"}, "",
      "The last actions: in a ring, or a vector that loses its first.");
  row("--monitor", memory.monitor, Words{"welford", "keep"}, "",
      "Statistics of rewards and losses: running, or of all that were kept.");
}

/// Calls row(option, value, kind, unit, sentence) for every option of the run.
template <class Run, class Row>
void for_each_run_option(Run& run, Row&& row) {
  row("--data", run.data, Text{"FILE"}, "",
      "Bars: CSV, Parquet, DBN or bar files (one, 'dir/*.csv', or a list with commas), or "
      "synthetic:ROWS:SEED.");
  row("--symbol", run.symbol, Text{"NAME"}, "", "Use this symbol's rows only.");
  row("--epochs", run.epochs, kEpochLimits, "",
      "Passes over the training bars, those of a resumed run included.");
  row("--max-steps", run.steps_max, Count{1, 1'000'000'000'000}, "gradient steps",
      "Stop there, even within a pass.");
  row("--early-stop", run.early_stop, Count{1, 1'000'000}, "evaluations",
      "Stop after that many without a better one.");
  row("--checkpoint", run.checkpoint, Text{"FILE"}, "",
      "Write the whole state there, after epochs and at the end (safetensors).");
  row("--checkpoint-dir", run.checkpoint_folder, Text{"DIR"}, "",
      "Keep last.safetensors there, and best.safetensors of the best evaluation.");
  row("--checkpoint-every", run.checkpoint_every, kEpochLimits, "epochs", "How often.");
  row("--resume", run.resume, Text{"FILE"}, "",
      "Go on from that checkpoint; hyperparameters left out are taken from it.");
  row("--eval", run.evaluate_only, Flag{}, "",
      "Do not train: evaluate the checkpoint of --resume on the validation bars.");
  row("--metrics", run.metrics, Text{"FILE"}, "", "Write one CSV row per epoch there.");
  row("--stats-json", run.stats_json, Text{"FILE"}, "", "Write the run's figures there.");
  row("--stats", run.stats, Words{"none", "json"}, "",
      "Print the same figures at the end, bytes of each part among them.");
  row("--threads", run.threads, Count{1, kMembersMax}, "",
      "Threads that --agents learn on; the result does not depend on it.");
  row("--device", run.device, DeviceKind{}, "",
      "Where the network learns; of CUDA devices 0 is the first.");
  row("--reduce", run.reduce, Words{"mpi", "nccl"}, "",
      "What averages the gradients of several processes: MPI, in the order of the ranks, or NCCL "
      "on their "
      "devices.");
  for_each_memory_option(run.memory, row);
  row("--report", run.report, Text{"FILE"}, "",
      "Write a page there in the end: curves, figures and settings (HTML).");
  row("--onnx", run.onnx, Text{"FILE"}, "",
      "Write the network there in the end (of several agents the first), normalisation included "
      "(ONNX).");
  row("--tensorboard", run.tensorboard, Text{"DIR"}, "",
      "Add a file there that TensorBoard reads, with CleanRL's names of curves.");
  row("--progress", run.progress, Flag{"Draw none."}, "",
      "Draw a bar on standard error (the default on a terminal).");
}

/// Both tables, hyperparameters last.
template <class Settings, class Row>
void for_each_option(Settings& config, Row&& row) {
  for_each_run_option(config.run, row);
  for_each_hyperparameter(config.hyper, row);
}
}  // namespace drey::trainer
