// market_problem.hpp: training on bars: passes over the training rows, evaluation on the rest.
// Several worlds share the rows: each plays a segment of its own, all of the same length.
// Read next: vector_problem.hpp, environments/market.hpp, agent/evaluation.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/evaluation.hpp"
#include "trainer/environments/market.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/vector_problem.hpp"

namespace drey::trainer {
/// Held by the problem before its worlds, which point into it.
struct MarketHolder {
  Market market;
};

class MarketProblem final : private MarketHolder, public VectorProblem<Trading> {
 public:
  /// Loads the bars; normalises them as `checkpoint` says, or, if it is null, as the training rows
  /// do. Fails: DataError, ConfigError, or CheckpointError when the checkpoint was made for other
  /// features, or, unless nothing is to be trained, for other bars.
  MarketProblem(const Config& config, const TensorReader* checkpoint);

  [[nodiscard]] std::uint64_t steps_per_pass() const override;
  [[nodiscard]] double train_return(const RoundTotals& totals) const override;
  double evaluate(GreedyPolicy& policy) override;
  void save(TensorWriter& writer) const override;
  void restore(const TensorReader& reader) override { restore_worlds(reader); }
  [[nodiscard]] NetworkInterface network_interface() const override;
  /// Equity on the validation rows, beside buy and hold.
  [[nodiscard]] std::vector<LineChart> charts(GreedyPolicy& policy) override;
  [[nodiscard]] ReturnUnit return_unit() const override { return {100, " %"}; }
  void add_memory(MemoryTable& table) const override;
  void log_start() const override;
  void log_evaluation() const override;
  void describe(nlohmann::json& data, nlohmann::json& evaluation) const override;

 private:
  Trading validation_;
  Evaluation evaluation_;
};
}  // namespace drey::trainer
