// pool_targets.cpp: see pool_targets.hpp.
// SPDX-License-Identifier: MIT
#include "pools/pool_targets.hpp"

#include "peers/goals.hpp"

#include <algorithm>
#include <set>

namespace drey::bench {
namespace {
/// One sentence about one figure of one case. `against`: whose least counts; empty: everybody's.
struct PoolTarget {
  const char* case_name;
  const char* figure;
  const char* sentence;
  Target target;
  std::vector<std::string> against;
};

const std::vector<PoolTarget>& all_targets() {
  using Kind = Target::Kind;
  static const std::vector<PoolTarget> targets = {
      {"vector/pair", "cpu_ns", "at most 3.5 ns", {Kind::kAtMost, 3.5}, {}},
      {"vector/pair", "cpu_ns", "0.6 of drey's malloc", {Kind::kBestPeer, 0.6}, {"drey_malloc"}},
      {"vector/burst_256", "cpu_ns", "a tenth of glibc's", {Kind::kBestPeer, 0.1}, {"system"}},
      {"vector/batch_128", "cpu_ns", "at most 1 ns", {Kind::kAtMost, 1.0}, {}},
      {"vector/cross_thread", "cpu_ns", "half of the best", {Kind::kBestPeer, 0.5}, {}},
      {"vector/memory_100000", "bytes_each", "1.07 x 900", {Kind::kAtMost, 963.0}, {}},
      {"vector/memory_100000_packed", "bytes_each", "1.005 x 900", {Kind::kAtMost, 904.5}, {}},
      {"arena/allocate_64", "cpu_ns", "at most 2 ns", {Kind::kAtMost, 2.0}, {}},
      {"arena/allocate_64",
       "cpu_ns",
       "half of monotonic_buffer_resource",
       {Kind::kBestPeer, 0.5},
       {"pmr_monotonic", "pmr_buffer"}},
      {"gather/128_packed_to_padded",
       "cpu_ns",
       "90 % of memcpy's bandwidth",
       {Kind::kBestPeer, 1 / 0.9},
       {"memcpy"}},
      {"gather/128_packed_to_packed",
       "cpu_ns",
       "90 % of memcpy's bandwidth",
       {Kind::kBestPeer, 1 / 0.9},
       {"memcpy"}},
      {"gather/128_padded_to_padded",
       "cpu_ns",
       "90 % of memcpy's bandwidth",
       {Kind::kBestPeer, 1 / 0.9},
       {"memcpy"}},
  };
  return targets;
}

const char* unit_of(const std::string& figure) {
  if (figure == "cpu_ns" || figure == "wall_ns") return "ns";
  if (figure == "faults") return "faults";
  if (figure == "bytes_each") return "bytes";
  if (figure == "percent_of_memcpy") return "%";
  return "";
}

/// The row with the samples of drey and of those it is held against.
Row judged_row(const PoolTarget& target, const Row& row) {
  Row judged = row;
  judged.name = row.name + ": " + target.sentence;
  judged.target = target.target;
  const bool is_absolute = target.target.kind == Target::Kind::kAtMost;
  for (auto sample = judged.samples.begin(); sample != judged.samples.end();) {
    const std::string& name = sample->first;
    const bool is_named =
        std::find(target.against.begin(), target.against.end(), name) != target.against.end();
    const bool is_wanted =
        name == kSubject || (!is_absolute && (target.against.empty() || is_named));
    sample = is_wanted ? std::next(sample) : judged.samples.erase(sample);
  }
  return judged;
}
}  // namespace

Row pool_row(const std::string& group, const std::string& name, const std::string& figure) {
  Row row;
  row.group = group;
  row.name = name;
  row.unit = unit_of(figure);
  row.is_shown = figure != "wall_ns" && figure != "faults";
  return row;
}

void add_rows_with_targets(const std::string& case_name, const std::string& figure, const Row& row,
                           HeadToHead& results) {
  results.rows.push_back(row);
  for (const PoolTarget& target : all_targets()) {
    if (case_name != target.case_name || figure != target.figure) continue;
    results.rows.push_back(judged_row(target, row));
  }
}

void sum_up_pools(HeadToHead& results) {
  std::set<std::string> groups;
  for (const Row& row : results.rows) groups.insert(row.group);
  for (const std::string& group : groups) {
    add_goal_of_rows(results, group + ": every target",
                     [&group](const Row& row) { return row.group == group; });
  }
}
}  // namespace drey::bench
