// report.cpp: see report.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/report.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include <drey/base/active_allocator.hpp>
#include <drey/base/version.hpp>

#include "trainer/numeric/hash.hpp"
#include "trainer/numeric/isa.hpp"
#include "trainer/program/block_tensors.hpp"
#include "trainer/program/heap_calls.hpp"
#include "trainer/program/hyperparameters_json.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/memory_table.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;

/// Largest resident size so far; 0 where the system does not say. Source: proc(5), VmHWM.
std::uint64_t peak_rss_bytes() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/status", "r"),
                                                             std::fclose);
  if (!file) return 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    unsigned long long kibibytes = 0;
    if (std::sscanf(line, "VmHWM: %llu kB", &kibibytes) == 1) return kibibytes * 1024;
  }
  return 0;
}

Json heap_calls_json(const SessionResult& result) {
  const std::optional<std::uint64_t> total = heap_calls();
  if (!total) return nullptr;
  const auto in_steps = static_cast<double>(result.heap_calls_in_steps);
  return {{"total", *total},
          {"in_steps_after_warmup", result.heap_calls_in_steps},
          {"per_epoch", result.passes > 0 ? in_steps / result.passes : 0.0}};
}

/// Bytes of each part, and what the process has beyond them.
Json memory_json(const Problem& problem, Agent& agent) {
  MemoryTable table;
  problem.add_memory(table);
  add_memory(table, agent);
  Json components = Json::object();
  for (const MemoryTable::Row& row : table.rows()) components[row.name] = row.bytes;
  const std::uint64_t peak = peak_rss_bytes();
  const std::uint64_t known = table.total_bytes();
  return {{"components", components},
          {"components_bytes", known},
          {"peak_rss_bytes", peak},
          {"other_bytes", peak > known ? peak - known : 0},
          {"state_conversions", table.conversions()}};
}

Json to_json(const SeriesSummary& series) {
  return {{"count", series.count},
          {"not_finite", series.refused_count},
          {"mean", series.mean},
          {"deviation", series.deviation}};
}

Json monitor_json(Agent& agent) {
  const RunMonitor& monitor = agent.monitor();
  const std::size_t action_count = agent.learner().action_count();
  Json recent = Json::array();
  for (std::size_t action = 0; action < action_count; ++action) {
    recent.push_back(monitor.recent_count(static_cast<Action>(action)));
  }
  return {{"rewards", to_json(monitor.rewards())},
          {"losses", to_json(monitor.losses())},
          {"recent_actions", recent},
          {"recent_entropy", monitor.entropy(action_count)}};
}

Json memory_options_json(const RunOptions& run) {
  Json json = {{"threads", run.threads}, {"device", text_of(run.device, DeviceKind{})}};
  for_each_memory_option(
      run.memory, [&](const std::string& option, const auto& value, const auto& kind, auto, auto) {
        json[option.substr(2)] = text_of(value, kind);
      });
  return json;
}

double steps_per_second(const SessionResult& result) {
  if (result.train_seconds <= 0) return 0;
  return static_cast<double>(result.gradient_steps) / result.train_seconds;
}
}  // namespace

std::string allocator_text() {
  const ActiveAllocator allocator = active_allocator();
  std::string text = allocator.name;
  if (allocator.version.length() != 0) text += std::string(" ") + allocator.version.c_str();
  return text + ", " + allocator.how.c_str();
}

std::string kernels_text(const Hyperparameters& hyper) {
  return std::string(name_of(chosen_isa())) + ", " + text_of(hyper.precision, kPrecisions);
}

void log_result(const SessionResult& result, const std::string& hash) {
  log_line("trained: %llu gradient steps in %.2f s, %.0f per second; weights hash %s",
           static_cast<unsigned long long>(result.gradient_steps), result.train_seconds,
           steps_per_second(result), hash.c_str());
  if (const std::optional<std::uint64_t> total = heap_calls()) {
    log_line("heap calls: %llu in all, %llu in steps after warm-up",
             static_cast<unsigned long long>(*total),
             static_cast<unsigned long long>(result.heap_calls_in_steps));
  }
}

std::string weights_hash(const Ensemble& ensemble) {
  const Learner& first = ensemble.member(0).learner();
  if (ensemble.count() == 1) return block_hash(first.shape(), first.network());
  Fnv1a hash;
  for (std::size_t index = 0; index < ensemble.count(); ++index) {
    const Learner& learner = ensemble.member(index).learner();
    const std::string text = block_hash(learner.shape(), learner.network());
    hash.add(std::as_bytes(std::span(text)));
  }
  return hash.text();
}

std::string stats_json(const Config& config, const Problem& problem, Agent& agent,
                       const RunFigures& figures) {
  const ActiveAllocator allocator = active_allocator();
  const SessionResult& result = figures.result;
  Json data;
  Json evaluation;
  problem.describe(data, evaluation);
  const Json json = {{"allocator",
                      {{"name", allocator.name},
                       {"version", allocator.version.c_str()},
                       {"how", allocator.how.c_str()}}},
                     {"version", kVersionText},
                     {"kernels",
                      {{"isa", name_of(chosen_isa())},
                       {"precision", text_of(config.hyper.precision, kPrecisions)}}},
                     {"seed", config.hyper.seed},
                     {"hyperparameters", to_json(config.hyper)},
                     {"memory_options", memory_options_json(config.run)},
                     {"ranks", figures.rank_count},
                     {"data", data},
                     {"gradient_steps", result.gradient_steps},
                     {"environment_steps", result.environment_steps},
                     {"train_seconds", result.train_seconds},
                     {"gradient_steps_per_second", steps_per_second(result)},
                     {"peak_rss_bytes", peak_rss_bytes()},
                     {"memory", memory_json(problem, agent)},
                     {"heap_calls", heap_calls_json(result)},
                     {"monitor", monitor_json(agent)},
                     {"weights_hash", figures.hash},
                     {"evaluation", evaluation}};
  return json.dump(2) + "\n";
}
}  // namespace drey::trainer
