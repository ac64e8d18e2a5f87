// problem.hpp: what a session trains for: worlds to act in, an evaluation of the greedy policy, and
// what a checkpoint must hold of both. One virtual call per round, so the loop inside stays generic.
// Read next: vector_problem.hpp, market_problem.hpp, simulated_problem.hpp, environment_list.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/agent/agent.hpp"
#include "trainer/agent/play.hpp"
#include "trainer/files/line_chart.hpp"
#include "trainer/files/safetensors.hpp"
#include "trainer/program/memory_table.hpp"
#include "trainer/program/network_interface.hpp"

namespace drey::trainer {
/// How returns are shown: times `factor`, with `suffix` behind.
struct ReturnUnit {
  double factor;
  const char* suffix;
};

/// Threads: one at a time.
class Problem {
 public:
  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  virtual ~Problem() = default;

  [[nodiscard]] virtual std::size_t observation_width() const = 0;
  [[nodiscard]] virtual std::size_t action_count() const = 0;
  /// Environment steps of a pass. A multiple of the number of worlds.
  [[nodiscard]] virtual std::uint64_t steps_per_pass() const = 0;

  /// A step of every world; adds to `totals`. Cost: no heap call.
  virtual void play_round(Agent& agent, RoundTotals& totals) = 0;
  /// Of the steps of a pass, as PassRecord::train_return.
  [[nodiscard]] virtual double train_return(const RoundTotals& totals) const = 0;
  /// Return of the greedy policy; the larger, the better. Does not touch the worlds of training.
  virtual double evaluate(GreedyPolicy& policy) = 0;

  /// Everything of the worlds that decides the rest of the run.
  virtual void save(TensorWriter& writer) const = 0;
  /// Takes it over. Fails: CheckpointError.
  virtual void restore(const TensorReader& reader) = 0;
  /// Row numbers that transitions of a checkpoint may name are below this.
  [[nodiscard]] virtual std::size_t row_end() const = 0;

  /// What transitions name rows of.
  [[nodiscard]] virtual ObservationTable observations() const = 0;
  /// Adds what the worlds hold.
  virtual void add_memory(MemoryTable& table) const = 0;
  [[nodiscard]] virtual NetworkInterface network_interface() const {
    return numbered_interface(observation_width(), action_count());
  }
  /// Charts of what the greedy policy does, for a report. Does not touch the worlds of training.
  [[nodiscard]] virtual std::vector<LineChart> charts(GreedyPolicy& /*policy*/) { return {}; }

  [[nodiscard]] virtual ReturnUnit return_unit() const = 0;
  virtual void log_start() const = 0;
  /// Of the last evaluate().
  virtual void log_evaluation() const = 0;
  /// Sets the members of that name of --stats-json.
  virtual void describe(nlohmann::json& data, nlohmann::json& evaluation) const = 0;
};
}  // namespace drey::trainer
