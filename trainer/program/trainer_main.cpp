// trainer_main.cpp: parse, build, run, report; the one catch.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <string>

#include <drey/base/version.hpp>

#include "trainer/data/error.hpp"
#include "trainer/environments/market.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/bar_verbs.hpp"
#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/interrupt.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/report.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
namespace {
enum ExitStatus : int { kDone = 0, kFault = 1, kBadInput = 2, kHeapCalls = 3, kInterrupted = 130 };

void check_outputs(const RunOptions& run) {
  for (const std::string* const path : {&run.checkpoint, &run.metrics, &run.stats_json}) {
    if (!path->empty()) check_writable(*path);
  }
}

void log_start(const Config& config, const Market& market) {
  log_line("data: %s: %s", market.source.c_str(), market.summary.c_str());
  log_line("rows of %zu features: %zu to train on, %zu to validate", kFeatureDim,
           market.training.size(), market.validation.size());
  const EpsilonSchedule epsilon = agent_settings(config.hyper, market.training.size() - 1).epsilon;
  log_line(
      "%s, network %zu-128-64-%zu, seed %llu, batch %llu, lr %g, epsilon %g to %g over %llu "
      "steps",
      config.hyper.double_dqn ? "double DQN" : "DQN", kFeatureDim, Trading::kActionCount,
      static_cast<unsigned long long>(config.hyper.seed),
      static_cast<unsigned long long>(config.hyper.batch), config.hyper.learning_rate,
      config.hyper.epsilon_start, config.hyper.epsilon_end,
      static_cast<unsigned long long>(epsilon.steps));
}

Market prepare_market(const Config& config, const Checkpoint* checkpoint) {
  Market market = load_market(config.run.data, config.run.symbol, config.hyper.validation_fraction);
  if (checkpoint == nullptr) {
    normalise(market);
    return market;
  }
  if (!config.run.evaluate_only) checkpoint->check_data(market);
  normalise(market, checkpoint->normaliser());
  return market;
}

SessionResult evaluate_checkpoint(const Config& config, const Market& market,
                                  const Checkpoint& checkpoint, std::string& hash) {
  Learner learner(agent_settings(config.hyper, market.training.size() - 1).learner,
                  Random(config.hyper.seed, RandomPurpose::kWeights));
  checkpoint.restore_network(learner);
  Trading world(market.observations(), market.next_returns, market.validation, config.hyper.fee);
  SessionResult result;
  result.evaluation = evaluate(learner, world, market.bars_per_year);
  hash = block_hash(learner.shape(), learner.network());
  return result;
}

int finish(const Config& config, const Market& market, const SessionResult& result,
           const std::string& hash) {
  log_evaluation(result.evaluation, market);
  if (!config.run.evaluate_only) log_result(result, hash);
  if (!config.run.stats_json.empty()) {
    write_file(config.run.stats_json, stats_json(config, market, result, hash));
  }
  if (result.heap_calls_in_steps != 0) {
    std::fprintf(stderr, "drey-train: expected no heap calls in steps after warm-up, found %llu\n",
                 static_cast<unsigned long long>(result.heap_calls_in_steps));
    return kHeapCalls;
  }
  return result.interrupted ? kInterrupted : kDone;
}

int run(Config config, const std::set<std::string>& given) {
  log_line("allocator: %s; drey-train %s", allocator_text().c_str(), kVersionText);
  check_outputs(config.run);
  std::optional<Checkpoint> checkpoint;
  if (!config.run.resume.empty()) {
    checkpoint.emplace(config.run.resume);
    checkpoint->adopt_hyperparameters(config.hyper, given, !config.run.evaluate_only);
    check_together(config);
  }
  const Checkpoint* const resume = checkpoint ? &*checkpoint : nullptr;
  const Market market = prepare_market(config, resume);
  log_start(config, market);
  std::string hash;
  if (config.run.evaluate_only) {
    const SessionResult result = evaluate_checkpoint(config, market, *checkpoint, hash);
    return finish(config, market, result, hash);
  }
  Session session(config, market, resume);
  checkpoint.reset();  // it holds a copy of everything that was restored
  watch_for_interrupts();
  const SessionResult result = session.run();
  Learner& learner = session.agent().learner();
  return finish(config, market, result, block_hash(learner.shape(), learner.network()));
}

int run_command_line(int argc, char** argv) {
  if (const std::optional<int> status = run_bar_verb(argc, argv)) return *status;
  const CommandLine line = parse_command_line(argc, argv);
  if (line.request == Request::kHelp) {
    std::fputs(line.help.c_str(), stdout);
    return kDone;
  }
  if (line.request == Request::kVersion) {
    log_line("drey-train %s; allocator: %s", kVersionText, allocator_text().c_str());
    return kDone;
  }
  return run(line.config, line.given);
}
}  // namespace
}  // namespace drey::trainer

int trainer_main(int argc, char** argv) {
  using namespace drey::trainer;
  try {
    return run_command_line(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "drey-train: %s\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    std::fputs("drey-train: out of memory\n", stderr);
    return kFault;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-train: fault in the program: %s\n", error.what());
    return kFault;
  }
}
