// case_targets.cpp: see case_targets.hpp.
// SPDX-License-Identifier: MIT
#include "peers/case_targets.hpp"

#include "peers/goals.hpp"

#include <array>
#include <cmath>
#include <map>

namespace drey::bench {
namespace {
constexpr double kBytesInMebibyte = 1024.0 * 1024.0;
constexpr double kPairMeanMax = 0.42;  // of mimalloc 3, which the reference is meant to be
constexpr double kCaseMeanMax = 0.60;
constexpr double kFlatness = 0.20;
constexpr std::array<const char*, 7> kTimedGroups = {"pair",    "large", "burst",  "mixed",
                                                     "threads", "cache", "library"};

/// Time a contender may take, in times of the best peer's.
const std::map<std::string, double>& time_limits() {
  static const std::map<std::string, double> limits = {
      {"pair", 1.0},    {"large", 1.0},  {"burst", 1.0},  {"mixed", 0.9},
      {"threads", 1.0}, {"cache", 1.05}, {"library", 1.0}};
  return limits;
}

struct FigureKind {
  const char* unit;
  double factor;
  bool is_shown;
};

FigureKind kind_of(const std::string& figure) {
  if (figure == "cpu_ns") return {"ns", 1, true};
  if (figure == "wall_ns") return {"ns", 1, false};
  if (figure == "faults") return {"faults", 1, false};
  if (figure == "faults_per_page") return {"faults/page", 1, true};
  if (figure == "rest_bytes" || figure == "grown_bytes") return {"MiB", 1 / kBytesInMebibyte, true};
  if (figure == "bytes_a_thread") return {"KiB", 1.0 / 1024, true};
  return {"%", 1, true};
}

Target target_of(const std::string& group, const std::string& name, const std::string& figure) {
  using Kind = Target::Kind;
  const auto limit = time_limits().find(group);
  if (figure == "cpu_ns" && limit != time_limits().end()) return {Kind::kBestPeer, limit->second};
  if (figure == "faults_per_page") return {Kind::kAtMost, 0.10};
  if (figure == "rest_bytes") return {Kind::kOverSystem, 0.3};
  if (figure == "grown_bytes") return {Kind::kAtMost, 0.25};  // back to the start
  if (figure == "bytes_a_thread") return {Kind::kAtMost, 32};
  if (figure == "excess_percent") return {Kind::kAtMost, 10};
  if (name == "memory/blocks/900" && figure == "overhead_percent") return {Kind::kAtMost, 2};
  return {};
}

/// "overhead_percent" -> "overhead"
std::string figure_title(const std::string& figure) {
  static const std::map<std::string, std::string> titles = {
      {"overhead_percent", "overhead"},
      {"kept_percent", "kept"},
      {"kept_after_2_s_percent", "kept after 2 s"},
      {"wall_ns", "elapsed"},
      {"faults", "faults an operation"}};
  const auto found = titles.find(figure);
  return found == titles.end() ? "" : found->second;
}
}  // namespace

Row row_for(const std::string& group, const std::string& name, const std::string& figure) {
  const FigureKind kind = kind_of(figure);
  const std::string title = figure_title(figure);
  Row row;
  row.group = group;
  row.name = title.empty() ? name : name + ", " + title;
  row.unit = kind.unit;
  row.is_shown = kind.is_shown;
  row.target = target_of(group, name, figure);
  return row;
}

double shown_factor(const std::string& figure) {
  return kind_of(figure).factor;
}

bool is_timed_case(const Row& row) {
  return row.is_shown && row.unit == "ns" && time_limits().count(row.group) != 0;
}

void sum_up_cases(HeadToHead& results) {
  for (const char* group : kTimedGroups) {
    const auto is_in_group = [group](const Row& row) {
      return is_timed_case(row) && row.group == group;
    };
    add_mean(results, group, is_in_group);
    add_goal_of_rows(results,
                     std::string(group) + ": each at most " + limit_text(time_limits().at(group)) +
                         " x the best peer",
                     is_in_group);
  }
  add_mean(results, "all timed cases", is_timed_case);
  add_goal_of_mean(results, "pair", kPairMeanMax);
  add_goal_of_mean(results, "all timed cases", kCaseMeanMax);
  add_goal_of_rows(results, "large: faults a touched page at most 0.10",
                   [](const Row& row) { return row.unit == "faults/page"; });
  add_goal_of_rows(results, "memory: each figure with a limit within it",
                   [](const Row& row) { return row.group == "memory"; });
  add_goal_of_flatness(results, "scale/live/", kFlatness);
  add_goal_of_flatness(results, "scale/threads/", kFlatness);
}
}  // namespace drey::bench
