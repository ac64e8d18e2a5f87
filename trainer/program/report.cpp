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

Json heap_calls_json(const SessionResult& result) {
  const std::optional<std::uint64_t> total = heap_calls();
  if (!total) return nullptr;
  return {{"total", *total}, {"in_steps_after_warmup", result.heap_calls_in_steps}};
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

std::string stats_json(const Config& config, const Problem& problem, const SessionResult& result,
                       const std::string& hash) {
  const ActiveAllocator allocator = active_allocator();
  Json data;
  Json evaluation;
  problem.describe(data, evaluation);
  const Json json = {{"allocator",
                      {{"name", allocator.name},
                       {"version", allocator.version.c_str()},
                       {"how", allocator.how.c_str()}}},
                     {"version", kVersionText},
                     {"seed", config.hyper.seed},
                     {"hyperparameters", to_json(config.hyper)},
                     {"data", data},
                     {"gradient_steps", result.gradient_steps},
                     {"environment_steps", result.environment_steps},
                     {"train_seconds", result.train_seconds},
                     {"gradient_steps_per_second", steps_per_second(result)},
                     {"peak_rss_bytes", peak_rss_bytes()},
                     {"heap_calls", heap_calls_json(result)},
                     {"weights_hash", hash},
                     {"evaluation", evaluation}};
  return json.dump(2) + "\n";
}
}  // namespace drey::trainer
