// episode_report.cpp: see episode_report.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/episode_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trainer/program/log.hpp"

namespace drey::trainer {
void EpisodeReport::add(double episode_return) {
  lowest_ = count_ == 0 ? episode_return : std::min(lowest_, episode_return);
  highest_ = count_ == 0 ? episode_return : std::max(highest_, episode_return);
  sum_ += episode_return;
  ++count_;
}

void EpisodeReport::log() const {
  log_line("evaluation, %llu episodes the agent never learned from:",
           static_cast<unsigned long long>(count_));
  log_line("  agent         return %.2f on average, %.2f to %.2f", mean(), lowest_, highest_);
}

void EpisodeReport::describe(nlohmann::json& evaluation) const {
  evaluation = {{"agent_return", mean()},
                {"episodes", count_},
                {"lowest_return", lowest_},
                {"highest_return", highest_}};
}

void log_simulation(const std::string& name, std::size_t world_count, std::uint64_t pass_steps) {
  log_line("environment: %s, %zu at a time, %llu steps an epoch", name.c_str(), world_count,
           static_cast<unsigned long long>(pass_steps));
}

void describe_simulation(const std::string& name, nlohmann::json& data) {
  data = {{"source", name}};
}
}  // namespace drey::trainer
