// report.cpp: see report.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/report.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include <drey/base/active_allocator.hpp>
#include <drey/base/version.hpp>

#include "trainer/program/heap_calls.hpp"
#include "trainer/program/hyperparameters_json.hpp"
#include "trainer/program/log.hpp"

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

Json to_json(const Performance& performance) {
  return {{"return", performance.net_return},
          {"sharpe", performance.sharpe},
          {"drawdown_max", performance.drawdown_max},
          {"trades", performance.trades}};
}

Json heap_calls_json(const SessionResult& result) {
  const std::optional<std::uint64_t> total = heap_calls();
  if (!total) return nullptr;
  return {{"total", *total}, {"in_steps_after_warmup", result.heap_calls_in_steps}};
}

double steps_per_second(const SessionResult& result) {
  if (result.train_seconds <= 0) return 0;
  return static_cast<double>(result.gradient_steps) / result.train_seconds;
}

void log_performance(const char* who, const Performance& performance) {
  log_line("  %-13s return %+8.2f %%, Sharpe %+6.2f, largest drawdown %6.2f %%, %llu trades", who,
           100 * performance.net_return, performance.sharpe, 100 * performance.drawdown_max,
           static_cast<unsigned long long>(performance.trades));
}
}  // namespace

std::string allocator_text() {
  const ActiveAllocator allocator = active_allocator();
  std::string text = allocator.name;
  if (allocator.version.length() != 0) text += std::string(" ") + allocator.version.c_str();
  return text + ", " + allocator.how.c_str();
}

void log_evaluation(const Evaluation& evaluation, const Market& market) {
  log_line("validation, %zu bars the agent never learned from:", market.validation.size());
  log_performance("agent", evaluation.agent);
  log_performance("buy and hold", evaluation.buy_and_hold);
  log_performance("always flat", evaluation.flat);
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

std::string stats_json(const Config& config, const Market& market, const SessionResult& result,
                       const std::string& hash) {
  const ActiveAllocator allocator = active_allocator();
  const Json json = {{"allocator",
                      {{"name", allocator.name},
                       {"version", allocator.version.c_str()},
                       {"how", allocator.how.c_str()}}},
                     {"version", kVersionText},
                     {"seed", config.hyper.seed},
                     {"hyperparameters", to_json(config.hyper)},
                     {"data",
                      {{"source", market.source},
                       {"bars", market.bar_count},
                       {"training_rows", market.training.size()},
                       {"validation_rows", market.validation.size()},
                       {"fingerprint", market.fingerprint}}},
                     {"gradient_steps", result.gradient_steps},
                     {"environment_steps", result.environment_steps},
                     {"train_seconds", result.train_seconds},
                     {"gradient_steps_per_second", steps_per_second(result)},
                     {"peak_rss_bytes", peak_rss_bytes()},
                     {"heap_calls", heap_calls_json(result)},
                     {"weights_hash", hash},
                     {"evaluation",
                      {{"agent_return", result.evaluation.agent.net_return},
                       {"buy_and_hold_return", result.evaluation.buy_and_hold.net_return},
                       {"flat_return", result.evaluation.flat.net_return},
                       {"agent", to_json(result.evaluation.agent)},
                       {"buy_and_hold", to_json(result.evaluation.buy_and_hold)},
                       {"flat", to_json(result.evaluation.flat)}}}};
  return json.dump(2) + "\n";
}
}  // namespace drey::trainer
