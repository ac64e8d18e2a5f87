// market_problem.cpp: see market_problem.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/market_problem.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "trainer/features/feature_names.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/market_tensors.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;

Market prepare_market(const Config& config, const TensorReader* checkpoint) {
  if (checkpoint != nullptr) check_features(*checkpoint);
  Market market = load_market(config.run.data, config.run.symbol, config.hyper.validation_fraction);
  if (checkpoint == nullptr) {
    normalise(market, config.run.memory.states);
    return market;
  }
  if (!config.run.evaluate_only) check_bars(*checkpoint, market);
  normalise(market, read_normaliser(*checkpoint), config.run.memory.states);
  return market;
}

/// One world per segment of the training rows; what is left over after equal segments is not used.
std::vector<Trading> make_worlds(const Market& market, const Hyperparameters& hyper) {
  const std::size_t steps = market.training.size() - 1;
  if (hyper.environments > steps) {
    refuse_option("--envs",
                  "at most " + text_of(std::uint64_t{steps}) +
                      ", the steps from one training row " + "to the next",
                  text_of(hyper.environments));
  }
  const std::size_t length = steps / hyper.environments;
  std::vector<Trading> worlds;
  for (std::size_t index = 0; index < hyper.environments; ++index) {
    const std::size_t first = market.training.first + index * length;
    worlds.emplace_back(market.observations(), market.next_returns,
                        RowRange{first, first + length + 1}, hyper.fee);
  }
  return worlds;
}

Json to_json(const Performance& performance) {
  return {{"return", performance.net_return},
          {"sharpe", performance.sharpe},
          {"drawdown_max", performance.drawdown_max},
          {"trades", performance.trades}};
}

void log_performance(const char* who, const Performance& performance) {
  log_line("  %-13s return %+8.2f %%, Sharpe %+6.2f, largest drawdown %6.2f %%, %llu trades", who,
           100 * performance.net_return, performance.sharpe, 100 * performance.drawdown_max,
           static_cast<unsigned long long>(performance.trades));
}
}  // namespace

MarketProblem::MarketProblem(const Config& config, const TensorReader* checkpoint)
    : MarketHolder{prepare_market(config, checkpoint)},
      VectorProblem<Trading>(make_worlds(market, config.hyper), config.hyper.seed,
                             config.hyper.reward_scale),
      validation_(market.observations(), market.next_returns, market.validation, config.hyper.fee) {
  start();
}

std::uint64_t MarketProblem::steps_per_pass() const {
  return worlds().size() * worlds().world(0).steps_per_pass();
}

double MarketProblem::train_return(const RoundTotals& totals) const {
  return std::expm1(totals.reward);
}

double MarketProblem::evaluate(GreedyPolicy& policy) {
  evaluation_ = drey::trainer::evaluate(policy, validation_, market.bars_per_year);
  return evaluation_.agent.net_return;
}

void MarketProblem::save(TensorWriter& writer) const {
  save_market(writer, market);
  save_worlds(writer);
}

void MarketProblem::add_memory(MemoryTable& table) const {
  table.add("features", market.features.bytes() + (market.raw ? market.raw->bytes() : 0));
  table.add("returns", market.next_returns.capacity() * sizeof(double));
  // Once for each row, or as often as rows were asked for.
  table.add_conversions(market.raw ? market.raw->conversions() : market.features.rows());
}

NetworkInterface MarketProblem::network_interface() const {
  const Normaliser& normaliser = market.normaliser;
  return {{kFeatureNames.begin(), kFeatureNames.end()},
          {"sell", "hold", "buy"},
          {normaliser.median().begin(), normaliser.median().end()},
          {normaliser.scale().begin(), normaliser.scale().end()},
          kNormalisedMax};
}

std::vector<LineChart> MarketProblem::charts(GreedyPolicy& policy) {
  const EquityCurves curves = equity_curves(policy, validation_);
  const auto percent = [](std::vector<double> values) {
    for (double& value : values) value *= 100;
    return values;
  };
  return {{"Gain on the validation bars",
           "bars",
           0,
           1,
           " %",
           {{"buy and hold", "market", percent(curves.buy_and_hold)},
            {"agent", "agent", percent(curves.agent)}}}};
}

void MarketProblem::log_start() const {
  log_line("data: %s: %s", market.source.c_str(), market.summary.c_str());
  log_line("rows of %zu features: %zu to train on, %zu to validate", kFeatureDim,
           market.training.size(), market.validation.size());
}

void MarketProblem::log_evaluation() const {
  log_line("validation, %zu bars the agent never learned from:", market.validation.size());
  log_performance("agent", evaluation_.agent);
  log_performance("buy and hold", evaluation_.buy_and_hold);
  log_performance("always flat", evaluation_.flat);
}

void MarketProblem::describe(nlohmann::json& data, nlohmann::json& evaluation) const {
  data = {{"source", market.source},
          {"bars", market.bar_count},
          {"training_rows", market.training.size()},
          {"validation_rows", market.validation.size()},
          {"features", kFeatureNames},
          {"fingerprint", market.fingerprint}};
  evaluation = {{"agent_return", evaluation_.agent.net_return},
                {"buy_and_hold_return", evaluation_.buy_and_hold.net_return},
                {"flat_return", evaluation_.flat.net_return},
                {"agent", to_json(evaluation_.agent)},
                {"buy_and_hold", to_json(evaluation_.buy_and_hold)},
                {"flat", to_json(evaluation_.flat)}};
}
}  // namespace drey::trainer
