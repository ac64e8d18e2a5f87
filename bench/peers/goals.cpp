// goals.cpp: see goals.hpp.
// SPDX-License-Identifier: MIT
#include "peers/goals.hpp"

#include "peers/verdict.hpp"
#include "race/format.hpp"
#include "race/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace drey::bench {
std::string limit_text(double limit) {
  return fixed(limit, 2);
}

void add_mean(HeadToHead& results, const std::string& title,
              const std::function<bool(const Row&)>& is_wanted) {
  Mean mean{title, {}};
  for (const Contender& contender : results.contenders) {
    const double ratio = mean_to(results, contender.name, results.reference, is_wanted);
    if (ratio > 0) mean.ratios[contender.name] = ratio;
  }
  if (!mean.ratios.empty()) results.means.push_back(std::move(mean));
}

void add_goal_of_rows(HeadToHead& results, const std::string& sentence,
                      const std::function<bool(const Row&)>& is_wanted) {
  int judged = 0;
  int met = 0;
  double worst = 0;
  std::string worst_name;
  for (const Row& row : results.rows) {
    if (!is_wanted(row)) continue;
    const auto verdict = judge(row);
    if (!verdict) continue;
    ++judged;
    met += verdict->is_met ? 1 : 0;
    const double share = row.target.limit > 0 ? verdict->figure / row.target.limit : 0;
    if (worst_name.empty() || share > worst) {
      worst = share;
      worst_name = row.name + " " + verdict->text();
    }
  }
  if (judged == 0) return;
  results.goals.push_back(
      {sentence,
       std::to_string(met) + " of " + std::to_string(judged) + "; nearest or worst: " + worst_name,
       met == judged});
}

void add_goal_of_mean(HeadToHead& results, const std::string& title, double limit) {
  for (const Mean& mean : results.means) {
    const auto ours = mean.ratios.find(kSubject);
    if (mean.title != title || ours == mean.ratios.end() || results.reference == kSubject) continue;
    results.goals.push_back(
        {title + ": geometric mean at most " + limit_text(limit) + " x " + results.reference,
         fixed(ours->second, 3), ours->second <= limit});
  }
}

void add_goal_of_flatness(HeadToHead& results, const std::string& prefix, double part) {
  std::vector<double> times;
  for (const Row& row : results.rows) {
    const auto ours = least(row, kSubject);
    if (row.is_shown && ours && row.name.rfind(prefix, 0) == 0) times.push_back(*ours);
  }
  if (times.size() < 2) return;
  const double middle = summarise(times).median;
  double farthest = 0;
  for (const double time : times) farthest = std::max(farthest, std::abs(time / middle - 1));
  const auto percent = [](double value) { return fixed(100 * value, 0) + " %"; };
  results.goals.push_back({prefix + "*: a pair within " + percent(part) + " of their median",
                           percent(farthest), farthest <= part});
}
}  // namespace drey::bench
