// session.cpp: see session.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/session.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/checkpoint_folder.hpp"
#include "trainer/program/heap_calls.hpp"
#include "trainer/program/interrupt.hpp"
#include "trainer/program/log.hpp"

namespace drey::trainer {
namespace {
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

void check_loss(double loss_sum, std::uint64_t gradient_steps) {
  if (!std::isfinite(loss_sum)) [[unlikely]] {
    throw ConfigError("training: expected a finite loss, found another at gradient step " +
                      std::to_string(gradient_steps) + "; a smaller --lr may help");
  }
}
}  // namespace

Session::Session(const Config& config, Problem& problem, const Checkpoint* resume,
                 Communicator* ranks)
    : config_(config),
      problem_(problem),
      ranks_(ranks),
      agent_(agent_settings(config, problem, ranks)),
      progress_(config.run.progress) {
  if (resume != nullptr) resume->restore(agent_, problem_, state_);
}

void Session::add_observer(std::unique_ptr<PassObserver> observer) {
  observers_.push_back(std::move(observer));
}

/// No better evaluation for as long as --early-stop says.
bool Session::is_stale() const {
  const std::uint64_t patience = config_.run.early_stop;
  return patience != 0 && state_.evaluations_since_best >= patience;
}

/// Not to go on even within a pass.
bool Session::is_stopped() const {
  const std::uint64_t steps_max = config_.run.steps_max;
  return interrupt_requested() || (steps_max != 0 && agent_.gradient_steps() >= steps_max);
}

bool Session::is_over() const {
  return state_.passes_done >= config_.run.epochs || is_stale();
}

/// Plays on until the pass ends (true), or until a limit or an interrupt (false).
bool Session::play_pass(SessionResult& result) {
  const std::uint64_t steps_per_pass = problem_.steps_per_pass();
  const std::size_t world_count = agent_.settings().world_count;
  std::uint64_t heap_calls_before = heap_calls().value_or(0);
  while (state_.pass_steps < steps_per_pass && !is_stopped()) {
    const std::uint64_t learned_before = state_.pass.learning.gradient_steps;
    problem_.play_round(agent_, state_.pass);
    check_loss(state_.pass.learning.loss, agent_.gradient_steps());
    state_.pass_steps += world_count;
    progress_.step(world_count);
    if (!is_warm_ && state_.pass.learning.gradient_steps != learned_before) {
      is_warm_ = true;
      heap_calls_before = heap_calls().value_or(0);
    }
  }
  if (is_warm_) result.heap_calls_in_steps += heap_calls().value_or(0) - heap_calls_before;
  return state_.pass_steps >= steps_per_pass;
}

void Session::save_checkpoint(bool is_best, bool is_due) {
  const RunOptions& run = config_.run;
  const bool is_file_due = is_due && !run.checkpoint.empty();
  const bool is_folder_due = (is_due || is_best) && !run.checkpoint_folder.empty();
  if (!is_file_due && !is_folder_due) return;
  agent_.ensemble().collect();
  if (ranks_ != nullptr && ranks_->rank() != 0) return;
  const std::string contents = checkpoint_contents(config_.hyper, problem_, agent_, state_);
  if (is_file_due) write_file(run.checkpoint, contents);
  if (!is_folder_due) return;
  if (is_best) write_file(best_checkpoint(run.checkpoint_folder), contents);
  if (is_due) write_file(last_checkpoint(run.checkpoint_folder), contents);
}

void Session::evaluate(PassRecord& record) {
  const double found = problem_.evaluate(agent_);
  is_evaluated_ = true;
  record.validation_return = found;
  record.is_best = state_.evaluations == 0 || found > state_.best_return;
  ++state_.evaluations;
  ++state_.evaluations_since_best;
  if (!record.is_best) return;
  state_.best_return = found;
  state_.evaluations_since_best = 0;
}

void Session::finish_pass(double seconds, std::uint64_t gradient_steps) {
  ++state_.passes_done;
  PassRecord record;
  record.epoch = state_.passes_done;
  record.environment_steps = agent_.environment_steps();
  record.gradient_steps = agent_.gradient_steps();
  record.epsilon = static_cast<double>(agent_.epsilon());
  record.learning_rate = static_cast<double>(agent_.learning_rate());
  record.loss = mean_of(state_.pass.learning.loss, state_.pass);
  record.q_mean = mean_of(state_.pass.learning.value, state_.pass);
  record.train_return = problem_.train_return(state_.pass);
  record.steps_per_second = seconds > 0 ? static_cast<double>(gradient_steps) / seconds : 0.0;
  if (state_.passes_done % config_.hyper.evaluate_every == 0) evaluate(record);
  state_.pass = {};
  state_.pass_steps = 0;
  for (const std::unique_ptr<PassObserver>& observer : observers_) observer->pass_done(record);
  // The last one is saved when the run ends.
  save_checkpoint(record.is_best,
                  !is_over() && state_.passes_done % config_.run.checkpoint_every == 0);
}

SessionResult Session::run() {
  SessionResult result;
  const std::uint64_t gradient_steps_before = agent_.gradient_steps();
  const std::uint64_t environment_steps_before = agent_.environment_steps();
  while (!is_over() && !is_stopped()) {
    progress_.begin(
        {state_.passes_done + 1, config_.run.epochs, problem_.steps_per_pass(), state_.pass_steps});
    const std::uint64_t steps_before = agent_.gradient_steps();
    is_evaluated_ = false;
    const Clock::time_point began = Clock::now();
    const bool is_finished = play_pass(result);
    const double seconds = seconds_since(began);
    progress_.clear();
    result.train_seconds += seconds;
    if (is_finished) finish_pass(seconds, agent_.gradient_steps() - steps_before);
  }
  if (is_stale()) {
    log_line("stopped early: %llu evaluations without a better one",
             static_cast<unsigned long long>(state_.evaluations_since_best));
  }
  save_checkpoint(false, true);
  if (!is_evaluated_) problem_.evaluate(agent_);
  result.gradient_steps = agent_.gradient_steps() - gradient_steps_before;
  result.environment_steps = agent_.environment_steps() - environment_steps_before;
  result.passes = static_cast<double>(result.environment_steps) /
                  static_cast<double>(problem_.steps_per_pass());
  result.interrupted = interrupt_requested();
  return result;
}
}  // namespace drey::trainer
