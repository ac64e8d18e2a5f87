// environment_list.cpp: see environment_list.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/environment_list.hpp"

#include <vector>

#include "trainer/data/data_fault.hpp"
#include "trainer/environments/cart_pole.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/market_problem.hpp"

namespace drey::trainer {
namespace {
std::unique_ptr<Problem> make_trading(const Config& config, const TensorReader* checkpoint) {
  return std::make_unique<MarketProblem>(config, checkpoint);
}
}  // namespace

std::unique_ptr<Problem> make_problem(const Config& config, const TensorReader* checkpoint,
                                      std::span<const EnvironmentEntry> more) {
  std::vector<EnvironmentEntry> entries = {{"trading", make_trading},
                                           simulated_environment<CartPole>("cartpole")};
  entries.insert(entries.end(), more.begin(), more.end());
  std::vector<const char*> names;
  for (const EnvironmentEntry& entry : entries) {
    if (entry.name == config.hyper.environment) return entry.make(config, checkpoint);
    names.push_back(entry.name.c_str());
  }
  refuse_option("--env", one_of(names.data(), names.size()),
                trainer::quoted(config.hyper.environment));
}
}  // namespace drey::trainer
