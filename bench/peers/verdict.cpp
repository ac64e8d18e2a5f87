// verdict.cpp: see verdict.hpp.
// SPDX-License-Identifier: MIT
#include "peers/verdict.hpp"

#include "race/format.hpp"
#include "race/statistics.hpp"

#include <algorithm>

namespace drey::bench {
namespace {
const std::vector<double>* samples_of(const Row& row, const std::string& name) {
  const auto found = row.samples.find(name);
  return found == row.samples.end() || found->second.empty() ? nullptr : &found->second;
}

/// Would the ratios of the rounds, scattered as they are, allow the limit as well as not? Also if
/// their median says other than the minima.
bool scatters_across(const Row& row, const std::string& other, double limit, bool is_met) {
  std::vector<double> allowed = *samples_of(row, other);
  for (double& sample : allowed) sample *= limit;
  const Comparison comparison = compare(*samples_of(row, kSubject), allowed);
  return comparison.is_tie || (comparison.ratio.median <= 1) != is_met;
}

std::optional<Verdict> judge_against_best(const Row& row) {
  const std::string best = best_peer(row);
  const auto ratio = ratio_of(row, kSubject, best);
  if (!ratio) return std::nullopt;
  const bool is_met = *ratio <= row.target.limit;
  return Verdict{is_met, scatters_across(row, best, row.target.limit, is_met), *ratio};
}

std::optional<Verdict> judge_over_system(const Row& row) {
  const auto ours = least(row, kSubject);
  const auto theirs = least(row, kSystem);
  if (!ours || !theirs) return std::nullopt;
  return Verdict{*ours - *theirs <= row.target.limit, false, *ours - *theirs};
}
}  // namespace

std::optional<double> least(const Row& row, const std::string& name) {
  const auto* const samples = samples_of(row, name);
  if (samples == nullptr) return std::nullopt;
  return *std::min_element(samples->begin(), samples->end());
}

std::optional<double> median(const Row& row, const std::string& name) {
  const auto* const samples = samples_of(row, name);
  if (samples == nullptr) return std::nullopt;
  return summarise(*samples).median;
}

std::string best_peer(const Row& row) {
  std::string best;
  for (const auto& [name, samples] : row.samples) {
    if (name == kSubject || samples.empty()) continue;
    if (best.empty() || *least(row, name) < *least(row, best)) best = name;
  }
  return best;
}

std::optional<double> ratio_of(const Row& row, const std::string& name, const std::string& other,
                               Statistic statistic) {
  const auto ours = statistic(row, name);
  const auto theirs = statistic(row, other);
  if (!row.has_ratios() || !ours || !theirs || !(*ours > 0) || !(*theirs > 0)) return std::nullopt;
  return *ours / *theirs;
}

std::string Verdict::text() const {
  const bool is_small = figure > -100 && figure < 100;
  return std::string(is_met ? "met " : "missed ") + fixed(figure, is_small ? 2 : 0) +
         (is_within_spread ? " (within the spread)" : "");
}

std::optional<Verdict> judge(const Row& row) {
  const auto ours = least(row, kSubject);
  if (!ours) return std::nullopt;
  switch (row.target.kind) {
    case Target::Kind::kNone:
      return std::nullopt;
    case Target::Kind::kBestPeer:
      return judge_against_best(row);
    case Target::Kind::kAtMost:
      return Verdict{*ours <= row.target.limit, false, *ours};
    case Target::Kind::kOverSystem:
      return judge_over_system(row);
  }
  return std::nullopt;
}

double mean_to(const HeadToHead& results, const std::string& name, const std::string& reference,
               const std::function<bool(const Row&)>& is_wanted) {
  std::vector<double> ratios;
  for (const Row& row : results.rows) {
    if (!is_wanted(row)) continue;
    if (const auto ratio = ratio_of(row, name, reference)) ratios.push_back(*ratio);
  }
  return geometric_mean(ratios);
}
}  // namespace drey::bench
