// trainer_main.cpp: parse, build, run, report; the one catch.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <drey/base/version.hpp>

#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/parallel/load_communicator.hpp"
#include "trainer/program/bar_verbs.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_folder.hpp"
#include "trainer/program/command_line.hpp"
#include "trainer/program/config_file.hpp"
#include "trainer/program/device_options.hpp"
#include "trainer/program/environment_list.hpp"
#include "trainer/program/interrupt.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/observers.hpp"
#include "trainer/program/ranks.hpp"
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
  if (config.run.device.is_cuda) {
    log_line("device: %s", text_of(config.run.device, DeviceKind{}).c_str());
  }
  log_line(
      "%s, network %s, seed %llu, batch %llu, lr %g, epsilon %g to %g over %llu "
      "steps",
      name.c_str(), network_text(settings.learner).c_str(),
      static_cast<unsigned long long>(hyper.seed), static_cast<unsigned long long>(hyper.batch),
      hyper.learning_rate, hyper.epsilon_start, hyper.epsilon_end,
      static_cast<unsigned long long>(settings.epsilon.steps));
}

int finish(const Config& config, Problem& problem, Agent& agent, const SessionResult& result,
           const std::vector<PassRecord>& passes, const Ranks& ranks) {
  const std::string hash = weights_hash(agent.ensemble());
  if (!ranks.have_equal(hash)) {
    std::fputs("drey-train: fault in the program: the ranks ended with different weights\n",
               stderr);
    return kFault;
  }
  if (!ranks.is_first()) return kDone;
  write_exports({config, problem, agent, result, hash, passes});
  problem.log_evaluation();
  if (!config.run.evaluate_only) log_result(result, hash);
  const RunFigures figures{result, hash, ranks.count()};
  if (!config.run.stats_json.empty()) {
    write_file(config.run.stats_json, stats_json(config, problem, agent, figures));
  }
  if (config.run.stats == StatsForm::kJson) {
    std::fputs(stats_json(config, problem, agent, figures).c_str(), stdout);
  }
  // Forms that are there to be raced ask the heap; so does what connects several ranks, or a driver.
  const bool must_not_ask =
      config.run.memory.is_frugal() && ranks.count() == 1 && !config.run.device.is_cuda;
  if (result.heap_calls_in_steps != 0 && must_not_ask) {
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

/// Says what went wrong, in one line. Returns: the exit status.
int report_failure() {
  const std::size_t rank = launched_rank();
  const std::string who = rank == 0 ? "drey-train" : "drey-train: rank " + std::to_string(rank);
  try {
    throw;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", who.c_str(), error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", who.c_str());
    return kFault;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: fault in the program: %s\n", who.c_str(), error.what());
    return kFault;
  }
}
/// Everything that a run needs; made on every rank.
struct Run {
  Config config;
  std::unique_ptr<CheckpointFolder> folder;
  std::unique_ptr<Problem> problem;
  std::vector<PassRecord> passes;    ///< of this run alone; before the session, which adds to it
  std::unique_ptr<Session> session;  ///< null: only evaluate
  std::unique_ptr<Agent> evaluated;  ///< null: train
};

/// Of the checkpoint's networks alone.
std::unique_ptr<Agent> restored_agent(const Config& config, const Problem& problem,
                                      const Checkpoint& checkpoint) {
  AgentSettings settings = agent_settings(config.hyper, problem);
  settings.replay_capacity = 1;
  choose_device(config.run, settings);
  auto agent = std::make_unique<Agent>(settings);
  checkpoint.restore_networks(*agent);
  return agent;
}

/// Fails: Error, for whatever the user can mend.
void set_up(Run& run, const std::set<std::string>& given, Entries more, const Ranks& ranks) {
  Config& config = run.config;
  const std::unique_ptr<Checkpoint> checkpoint = read_checkpoint(config, given);
  check_together(config);
  if (ranks.is_first()) {
    check_outputs(config.run);
    run.folder = std::make_unique<CheckpointFolder>(config.run.checkpoint_folder);
  } else {
    config.run.progress = ProgressMode::kOff;
  }
  require_chosen_device(config.run);
  run.problem = make_problem(config, checkpoint ? &checkpoint->tensors() : nullptr, more);
  log_start(config, *run.problem);
  if (config.run.evaluate_only) {
    run.evaluated = restored_agent(config, *run.problem, *checkpoint);
    return;
  }
  run.session =
      std::make_unique<Session>(config, *run.problem, checkpoint.get(), ranks.communicator());
  if (!ranks.is_first()) return;
  add_observers(*run.session, config, *run.problem);
  if (!config.run.report.empty()) {
    run.session->add_observer(std::make_unique<PassHistory>(run.passes));
  }
}

int train(Run& run, const Ranks& ranks) {
  // Among several ranks a signal ends the job: they could not all stop at the same step.
  if (ranks.count() == 1) watch_for_interrupts();
  SessionResult result;
  try {
    result = run.session->run();
  } catch (...) {
    // The others may be waiting for this rank, so there is no other way to tell them.
    if (ranks.count() > 1) ranks.communicator()->abort(report_failure());
    throw;
  }
  return finish(run.config, *run.problem, run.session->agent(), result, run.passes, ranks);
}

int run_all(const CommandLine& line, Entries more, const Ranks& ranks) {
  log_line("allocator: %s; drey-train %s", allocator_text().c_str(), kVersionText);
  Run run;
  run.config = line.config;
  std::exception_ptr failure;
  try {
    set_up(run, line.given, more, ranks);
  } catch (...) {
    failure = std::current_exception();
  }
  ranks.agree(failure);
  log_line("kernels: %s", kernels_text(run.config.hyper).c_str());
  if (run.session) return train(run, ranks);
  run.problem->evaluate(*run.evaluated);
  return finish(run.config, *run.problem, *run.evaluated, {}, {}, ranks);
}

int dump_config(Config config, const std::set<std::string>& given) {
  read_checkpoint(config, given);
  std::fputs(config_file_text(config).c_str(), stdout);
  return kDone;
}

int run_command_line(int argc, char** argv, Entries more, const Ranks& ranks) {
  CommandLine line;
  std::exception_ptr failure;
  try {
    line = parse_command_line(argc, argv);
  } catch (...) {
    failure = std::current_exception();
  }
  ranks.agree(failure);
  if (line.request == Request::kRun) return run_all(line, more, ranks);
  if (!ranks.is_first()) return kDone;
  if (line.request == Request::kHelp) {
    std::fputs(line.help.c_str(), stdout);
  } else if (line.request == Request::kVersion) {
    log_line("drey-train %s; allocator: %s", kVersionText, allocator_text().c_str());
  } else {
    return dump_config(line.config, line.given);
  }
  return kDone;
}

}  // namespace
}  // namespace drey::trainer

int trainer_main(int argc, char** argv) {
  return trainer_main(argc, argv, {});
}

int trainer_main(int argc, char** argv, std::span<const drey::trainer::EnvironmentEntry> more) {
  using namespace drey::trainer;
  std::unique_ptr<Ranks> ranks;
  try {
    if (const std::optional<int> status = run_bar_verb(argc, argv)) return *status;
    ranks = std::make_unique<Ranks>();
    return run_command_line(argc, argv, more, *ranks);
  } catch (const OtherRankFailed&) {
    return kBadInput;
  } catch (...) {
    if (ranks == nullptr && launched_rank() != 0) return kBadInput;  // the first one says it
    return report_failure();
  }
}
