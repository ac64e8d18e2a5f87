// session.cpp: see session.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/session.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "trainer/agent/play.hpp"
#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/heap_calls.hpp"
#include "trainer/program/interrupt.hpp"
#include "trainer/program/log.hpp"

namespace drey::trainer {
namespace {
using Clock = std::chrono::steady_clock;
constexpr std::size_t kHiddenWidths[] = {128, 64};

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

Agent make_agent(const Config& config, const Market& market) {
  return Agent(agent_settings(config.hyper, market.training.size() - 1));
}

void check_loss(const PlayReport& step, std::uint64_t gradient_steps) {
  if (step.learned && !std::isfinite(step.loss.loss)) [[unlikely]] {
    throw ConfigError("training: expected a finite loss, found another at gradient step " +
                      std::to_string(gradient_steps) + "; a smaller --lr may help");
  }
}

void log_pass(const MetricsRow& row, std::uint64_t epochs) {
  log_line(
      "epoch %llu/%llu: loss %.6f, value %+.4f, epsilon %.3f, train %+.2f %%, "
      "validation %+.2f %%, %.0f gradient steps/s",
      static_cast<unsigned long long>(row.epoch), static_cast<unsigned long long>(epochs), row.loss,
      row.value, row.epsilon, 100 * row.train_return, 100 * row.validation_return,
      row.steps_per_second);
}
}  // namespace

AgentSettings agent_settings(const Hyperparameters& hyper, std::uint64_t steps_per_pass) {
  AgentSettings settings;
  settings.learner.widths = {kFeatureDim, kHiddenWidths[0], kHiddenWidths[1],
                             Trading::kActionCount};
  settings.learner.batch_size = hyper.batch;
  settings.learner.gamma = static_cast<float>(hyper.gamma);
  settings.learner.double_dqn = hyper.double_dqn;
  settings.learner.adam.learning_rate = static_cast<float>(hyper.learning_rate);
  settings.learner.adam.norm_max = static_cast<float>(hyper.grad_clip);
  settings.learner.tau = static_cast<float>(hyper.tau);
  const double plan_steps =
      static_cast<double>(hyper.epsilon_horizon) * static_cast<double>(steps_per_pass);
  settings.epsilon = {static_cast<float>(hyper.epsilon_start),
                      static_cast<float>(hyper.epsilon_end),
                      static_cast<std::uint64_t>(hyper.epsilon_fraction * plan_steps)};
  settings.replay_capacity = hyper.buffer;
  settings.learning_starts = hyper.learning_starts;
  settings.train_frequency = hyper.train_frequency;
  settings.seed = hyper.seed;
  return settings;
}

Session::Session(const Config& config, const Market& market, const Checkpoint* resume)
    : config_(config),
      market_(market),
      agent_(make_agent(config, market)),
      world_(market.observations(), market.next_returns, market.training, config.hyper.fee),
      validation_(market.observations(), market.next_returns, market.validation, config.hyper.fee),
      metrics_("", 0),
      progress_(config.run.progress) {
  world_.reset();
  if (resume != nullptr) resume->restore(agent_, world_, state_);
  metrics_ = MetricsFile(config.run.metrics, state_.passes_done);
}

bool Session::limit_reached() const {
  const std::uint64_t steps_max = config_.run.steps_max;
  return steps_max != 0 && agent_.gradient_steps() >= steps_max;
}

/// Plays on until the pass ends (true), or until a limit or an interrupt (false).
bool Session::play_pass(SessionResult& result) {
  auto observation = static_cast<ObservationRow>(world_.row());
  std::uint64_t heap_calls_before = heap_calls().value_or(0);
  while (!limit_reached() && !interrupt_requested()) {
    const PlayReport step = play_step(agent_, world_, observation, config_.hyper.reward_scale);
    check_loss(step, agent_.gradient_steps());
    state_.pass.add(step);
    observation = step.result.observation;
    progress_.step();
    if (step.learned && !is_warm_) {
      is_warm_ = true;
      heap_calls_before = heap_calls().value_or(0);
    }
    if (step.result.ended()) {
      if (is_warm_) result.heap_calls_in_steps += heap_calls().value_or(0) - heap_calls_before;
      world_.reset();
      return true;
    }
  }
  if (is_warm_) result.heap_calls_in_steps += heap_calls().value_or(0) - heap_calls_before;
  return false;
}

void Session::save_checkpoint() {
  if (config_.run.checkpoint.empty()) return;
  write_file(config_.run.checkpoint,
             checkpoint_contents(config_.hyper, market_, agent_, world_, state_));
}

void Session::finish_pass(const SessionResult& result, double seconds, std::uint64_t steps) {
  MetricsRow row;
  row.epoch = state_.passes_done;
  row.environment_steps = agent_.environment_steps();
  row.gradient_steps = agent_.gradient_steps();
  row.epsilon = static_cast<double>(agent_.epsilon());
  row.loss = state_.pass.loss_mean();
  row.value = state_.pass.value_mean();
  row.train_return = std::expm1(state_.pass.reward);
  row.validation_return = result.evaluation.agent.net_return;
  row.steps_per_second = seconds > 0 ? static_cast<double>(steps) / seconds : 0.0;
  log_pass(row, config_.run.epochs);
  metrics_.add(row);
  state_.pass = {};
  const bool is_last = state_.passes_done >= config_.run.epochs;
  if (!is_last && state_.passes_done % config_.run.checkpoint_every == 0) save_checkpoint();
}

SessionResult Session::run() {
  SessionResult result;
  const std::uint64_t gradient_steps_before = agent_.gradient_steps();
  const std::uint64_t environment_steps_before = agent_.environment_steps();
  while (state_.passes_done < config_.run.epochs && !limit_reached() && !interrupt_requested()) {
    progress_.begin(state_.passes_done + 1, config_.run.epochs, world_.steps_per_pass(),
                    world_.row() - world_.rows().first);
    const std::uint64_t steps_before = agent_.gradient_steps();
    const Clock::time_point began = Clock::now();
    const bool is_finished = play_pass(result);
    const double seconds = seconds_since(began);
    progress_.clear();
    result.train_seconds += seconds;
    if (!is_finished) break;
    ++state_.passes_done;
    result.evaluation = evaluate(agent_.learner(), validation_, market_.bars_per_year);
    finish_pass(result, seconds, agent_.gradient_steps() - steps_before);
  }
  save_checkpoint();
  result.evaluation = evaluate(agent_.learner(), validation_, market_.bars_per_year);
  result.gradient_steps = agent_.gradient_steps() - gradient_steps_before;
  result.environment_steps = agent_.environment_steps() - environment_steps_before;
  result.interrupted = interrupt_requested();
  return result;
}
}  // namespace drey::trainer
