// episode_report.hpp: the returns of an evaluation's episodes, for people and for programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace drey::trainer {
class EpisodeReport {
 public:
  void add(double episode_return);

  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
  }
  void log() const;
  /// {"agent_return": mean, "episodes", "lowest", "highest"}.
  void describe(nlohmann::json& evaluation) const;

 private:
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double lowest_ = 0;
  double highest_ = 0;
};

void log_simulation(const std::string& name, std::size_t world_count, std::uint64_t pass_steps);
void describe_simulation(const std::string& name, nlohmann::json& data);
}  // namespace drey::trainer
