// trainer_main.cpp: parse, build, run, report; the one catch.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <drey/base/version.hpp>

#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_folder.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/config_file.hpp"
#include "trainer/program/environment_list.hpp"
#include "trainer/program/interrupt.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/observers.hpp"
#include "trainer/program/report.hpp"
#include "trainer/program/run_outcome.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
namespace {
enum ExitStatus : int { kDone = 0, kFault = 1, kBadInput = 2, kHeapCalls = 3, kInterrupted = 130 };

using Entries = std::span<const EnvironmentEntry>;

void check_outputs(const RunOptions& run) {
  for (const std::string* const path :
       {&run.checkpoint, &run.metrics, &run.stats_json, &run.report, &run.onnx}) {
    if (!path->empty()) check_writable(*path);
  }
}

/// "225-128-64-3".
std::string network_text(const LearnerSettings& settings) {
  std::string text;
  for (const std::size_t width : settings.widths) {
    text += (text.empty() ? "" : "-") + std::to_string(width);
  }
  return text;
}

void log_start(const Config& config, const Problem& problem) {
  problem.log_start();
  const Hyperparameters& hyper = config.hyper;
  const AgentSettings settings = agent_settings(hyper, problem);
  std::string name = hyper.dueling ? "dueling " : "";
  name += hyper.double_dqn ? "double DQN" : "DQN";
  if (hyper.step_count > 1) name += " of " + std::to_string(hyper.step_count) + " steps";
  if (hyper.prioritised) name += " with priorities";
  log_line(
      "%s, network %s, seed %llu, batch %llu, lr %g, epsilon %g to %g over %llu "
      "steps",
      name.c_str(), network_text(settings.learner).c_str(),
      static_cast<unsigned long long>(hyper.seed), static_cast<unsigned long long>(hyper.batch),
      hyper.learning_rate, hyper.epsilon_start, hyper.epsilon_end,
      static_cast<unsigned long long>(settings.epsilon.steps));
}

int finish(const Config& config, const Problem& problem, const SessionResult& result,
           const std::string& hash) {
  problem.log_evaluation();
  if (!config.run.evaluate_only) log_result(result, hash);
  if (!config.run.stats_json.empty()) {
    write_file(config.run.stats_json, stats_json(config, problem, result, hash));
  }
  if (result.heap_calls_in_steps != 0) {
    std::fprintf(stderr, "drey-train: expected no heap calls in steps after warm-up, found %llu\n",
                 static_cast<unsigned long long>(result.heap_calls_in_steps));
    return kHeapCalls;
  }
  return result.interrupted ? kInterrupted : kDone;
}

/// The checkpoint of --resume, from which `config` takes what was not given; null without one.
std::unique_ptr<Checkpoint> read_checkpoint(Config& config, const std::set<std::string>& given) {
  if (config.run.resume.empty()) return nullptr;
  auto checkpoint = std::make_unique<Checkpoint>(config.run.resume);
  checkpoint->adopt_hyperparameters(config.hyper, given, !config.run.evaluate_only);
  return checkpoint;
}

int evaluate_checkpoint(const Config& config, Problem& problem, const Checkpoint& checkpoint) {
  Learner learner(agent_settings(config.hyper, problem).learner,
                  Random(config.hyper.seed, RandomPurpose::kWeights));
  checkpoint.restore_network(learner);
  problem.evaluate(learner);
  const std::string hash = block_hash(learner.shape(), learner.network());
  const SessionResult nothing_trained;
  const std::vector<PassRecord> no_passes;
  write_exports({config, problem, learner, nothing_trained, hash, no_passes});
  return finish(config, problem, nothing_trained, hash);
}

int train(const Config& config, Problem& problem, std::unique_ptr<Checkpoint> checkpoint) {
  std::vector<PassRecord> passes;  // outlives the session, which tells of them
  Session session(config, problem, checkpoint.get());
  checkpoint.reset();  // it holds a copy of everything that was restored
  add_observers(session, config, problem);
  if (!config.run.report.empty()) session.add_observer(std::make_unique<PassHistory>(passes));
  watch_for_interrupts();
  const SessionResult result = session.run();
  Learner& learner = session.agent().learner();
  const std::string hash = block_hash(learner.shape(), learner.network());
  write_exports({config, problem, learner, result, hash, passes});
  return finish(config, problem, result, hash);
}

int run(Config config, const std::set<std::string>& given, Entries more) {
  log_line("allocator: %s; drey-train %s", allocator_text().c_str(), kVersionText);
  std::unique_ptr<Checkpoint> checkpoint = read_checkpoint(config, given);
  check_together(config);
  check_outputs(config.run);
  const CheckpointFolder folder(config.run.checkpoint_folder);
  const std::unique_ptr<Problem> problem =
      make_problem(config, checkpoint ? &checkpoint->tensors() : nullptr, more);
  log_start(config, *problem);
  if (!config.run.evaluate_only) return train(config, *problem, std::move(checkpoint));
  return evaluate_checkpoint(config, *problem, *checkpoint);
}

int dump_config(Config config, const std::set<std::string>& given) {
  read_checkpoint(config, given);
  std::fputs(config_file_text(config).c_str(), stdout);
  return kDone;
}

int run_command_line(int argc, char** argv, Entries more) {
  const CommandLine line = parse_command_line(argc, argv);
  if (line.request == Request::kHelp) {
    std::fputs(line.help.c_str(), stdout);
    return kDone;
  }
  if (line.request == Request::kVersion) {
    log_line("drey-train %s; allocator: %s", kVersionText, allocator_text().c_str());
    return kDone;
  }
  if (line.request == Request::kDumpConfig) return dump_config(line.config, line.given);
  return run(line.config, line.given, more);
}
}  // namespace
}  // namespace drey::trainer

int trainer_main(int argc, char** argv) {
  return trainer_main(argc, argv, {});
}

int trainer_main(int argc, char** argv, std::span<const drey::trainer::EnvironmentEntry> more) {
  using namespace drey::trainer;
  try {
    return run_command_line(argc, argv, more);
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
