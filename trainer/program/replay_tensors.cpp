// replay_tensors.cpp: see replay_tensors.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/replay_tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "trainer/program/checkpoint_format.hpp"

namespace drey::trainer {
namespace {
/// Transitions or waiting steps, one array per member.
struct TransitionColumns {
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> next_rows;
  std::vector<float> rewards;
  std::vector<std::uint8_t> actions;
  std::vector<std::uint8_t> terminated;
  std::vector<std::uint8_t> steps;

  explicit TransitionColumns(std::size_t size = 0)
      : rows(size), next_rows(size), rewards(size), actions(size), terminated(size), steps(size) {}
};

template <class Value>
void add_column(TensorWriter& writer, const std::string& name, const std::vector<Value>& values) {
  writer.add(name, {values.size()}, std::span<const Value>(values));
}

template <class Value>
void read_column(const TensorReader& reader, const std::string& name, std::vector<Value>& values) {
  reader.read(name, {values.size()}, std::span<Value>(values));
}

void add_transitions(TensorWriter& writer, const ReplayBuffer& replay) {
  TransitionColumns columns;
  for (const Transition& transition : replay.stored()) {
    columns.rows.push_back(static_cast<std::int32_t>(transition.observation));
    columns.next_rows.push_back(static_cast<std::int32_t>(transition.next_observation));
    columns.rewards.push_back(transition.reward);
    columns.actions.push_back(transition.action);
    columns.terminated.push_back(transition.terminated ? 1 : 0);
    columns.steps.push_back(transition.steps);
  }
  add_column(writer, "replay.observation", columns.rows);
  add_column(writer, "replay.next_observation", columns.next_rows);
  add_column(writer, "replay.reward", columns.rewards);
  add_column(writer, "replay.action", columns.actions);
  add_column(writer, "replay.terminated", columns.terminated);
  add_column(writer, "replay.steps", columns.steps);
  const std::vector<std::int64_t> head = {static_cast<std::int64_t>(replay.head())};
  add_column(writer, "replay.head", head);
}

void add_windows(TensorWriter& writer, std::span<StepWindow> windows) {
  std::vector<std::int32_t> counts;
  std::vector<std::int32_t> rows;
  std::vector<double> rewards;
  std::vector<std::uint8_t> actions;
  for (const StepWindow& window : windows) {
    counts.push_back(static_cast<std::int32_t>(window.pending().size()));
    for (const PendingStep& step : window.pending()) {
      rows.push_back(static_cast<std::int32_t>(step.observation));
      rewards.push_back(step.reward);
      actions.push_back(step.action);
    }
  }
  add_column(writer, "window.count", counts);
  add_column(writer, "window.observation", rows);
  add_column(writer, "window.reward", rewards);
  add_column(writer, "window.action", actions);
}

bool is_row(std::int32_t row, std::size_t row_end) {
  return row >= 0 && static_cast<std::size_t>(row) < row_end;
}

[[noreturn]] void refuse_slot(const TensorReader& reader, std::size_t row_end, std::size_t actions,
                              const std::string& where) {
  reader.refuse("rows below " + std::to_string(row_end) + ", actions below " +
                    std::to_string(actions) + ", finite rewards and 1 to " +
                    std::to_string(StepWindow::kStepsMax) + " steps in " +
                    where.substr(0, where.find(' ')),
                "others in " + where);
}

void restore_transitions(const TensorReader& reader, std::size_t row_end,
                         const ObservationTable& table, Agent& agent) {
  const TensorShape& shape = reader.shape_of("replay.reward");
  const std::uint64_t capacity = agent.replay().capacity();
  const std::uint64_t size = shape.size() == 1 ? shape[0] : capacity + 1;
  std::vector<std::int64_t> heads(1);
  read_column(reader, "replay.head", heads);
  const auto head = static_cast<std::uint64_t>(heads[0]);
  if (size > capacity || head != (size < capacity ? size : head % capacity)) {
    reader.refuse("a replay of at most " + std::to_string(capacity) + " transitions",
                  std::to_string(size) + ", head " + std::to_string(heads[0]));
  }
  TransitionColumns columns(size);
  read_column(reader, "replay.observation", columns.rows);
  read_column(reader, "replay.next_observation", columns.next_rows);
  read_column(reader, "replay.reward", columns.rewards);
  read_column(reader, "replay.action", columns.actions);
  read_column(reader, "replay.terminated", columns.terminated);
  read_column(reader, "replay.steps", columns.steps);
  std::vector<Transition> transitions(size);
  for (std::size_t slot = 0; slot < size; ++slot) {
    const bool is_inside = is_row(columns.rows[slot], row_end) &&
                           is_row(columns.next_rows[slot], row_end) &&
                           columns.actions[slot] < agent.learner().action_count() &&
                           std::isfinite(columns.rewards[slot]) && columns.steps[slot] >= 1 &&
                           columns.steps[slot] <= StepWindow::kStepsMax;
    if (!is_inside) {
      refuse_slot(reader, row_end, agent.learner().action_count(),
                  "replay slot " + std::to_string(slot));
    }
    transitions[slot] = {static_cast<ObservationRow>(columns.rows[slot]),
                         static_cast<ObservationRow>(columns.next_rows[slot]),
                         columns.rewards[slot],
                         columns.actions[slot],
                         columns.terminated[slot] != 0,
                         columns.steps[slot]};
  }
  agent.ensemble().restore_replay(transitions, head, table);
}

void restore_priorities(const TensorReader& reader, std::size_t member, Agent& agent) {
  PrioritisedSampler* const priorities = agent.ensemble().member(member).priorities();
  if (priorities == nullptr) return;
  std::vector<double> values(agent.replay().size());
  std::vector<double> largest(1);
  read_column(reader, member_prefix(member) + "replay.priority", values);
  read_column(reader, member_prefix(member) + "replay.priority_max", largest);
  const auto is_priority = [](double value) { return std::isfinite(value) && value > 0; };
  if (!std::all_of(values.begin(), values.end(), is_priority) || !is_priority(largest[0])) {
    reader.refuse("finite priorities above 0", "others");
  }
  priorities->restore(values, largest[0]);
}

void restore_windows(const TensorReader& reader, std::size_t row_end, Agent& agent) {
  const std::span<StepWindow> windows = agent.windows();
  std::vector<std::int32_t> counts(windows.size());
  read_column(reader, "window.count", counts);
  const TensorShape& shape = reader.shape_of("window.reward");
  const std::size_t total = shape.size() == 1 ? shape[0] : 0;
  std::vector<std::int32_t> rows(total);
  std::vector<double> rewards(total);
  std::vector<std::uint8_t> actions(total);
  read_column(reader, "window.observation", rows);
  read_column(reader, "window.reward", rewards);
  read_column(reader, "window.action", actions);
  std::size_t first = 0;
  for (std::size_t world = 0; world < windows.size(); ++world) {
    const auto count = static_cast<std::size_t>(std::max(counts[world], 0));
    const bool is_last = world + 1 == windows.size();
    bool is_inside = counts[world] >= 0 && count < windows[world].step_count() &&
                     (is_last ? first + count == total : first + count <= total);
    std::vector<PendingStep> steps;
    for (std::size_t place = first; is_inside && place < first + count; ++place) {
      is_inside = is_row(rows[place], row_end) && std::isfinite(rewards[place]) &&
                  actions[place] < agent.learner().action_count();
      steps.push_back({static_cast<ObservationRow>(rows[place]), actions[place], rewards[place]});
    }
    if (!is_inside) {
      refuse_slot(reader, row_end, agent.learner().action_count(),
                  "window " + std::to_string(world));
    }
    windows[world].restore(steps);
    first += count;
  }
}
}  // namespace

void add_replay(TensorWriter& writer, Agent& agent) {
  add_transitions(writer, agent.replay());
  add_windows(writer, agent.windows());
  for (std::size_t member = 0; member < agent.ensemble().count(); ++member) {
    const PrioritisedSampler* const priorities = agent.ensemble().member(member).priorities();
    if (priorities == nullptr) continue;
    std::vector<double> values;
    for (std::size_t slot = 0; slot < agent.replay().size(); ++slot) {
      values.push_back(priorities->tree().at(slot));
    }
    add_column(writer, member_prefix(member) + "replay.priority", values);
    add_column(writer, member_prefix(member) + "replay.priority_max",
               std::vector<double>{priorities->priority_max()});
  }
}

void restore_replay(const TensorReader& reader, std::size_t row_end, const ObservationTable& table,
                    Agent& agent) {
  restore_transitions(reader, row_end, table, agent);
  for (std::size_t member = 0; member < agent.ensemble().count(); ++member) {
    restore_priorities(reader, member, agent);
  }
  restore_windows(reader, row_end, agent);
}
}  // namespace drey::trainer
