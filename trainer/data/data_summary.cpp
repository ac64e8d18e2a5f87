// data_summary.cpp: see data_summary.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/data_summary.hpp"

#include <algorithm>
#include <vector>

#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
bool repeats(const Bar& bar, Bar last) {
  last.timestamp_ns = bar.timestamp_ns;
  return bar == last;
}

void count_bars(const std::vector<Bar>& bars, DataSummary& summary) {
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (bars[i].volume == 0.0) ++summary.zero_volume_count;
    if (i != 0 && repeats(bars[i], bars[i - 1])) ++summary.repeat_count;
  }
}

std::string gap_text(const DataSummary& summary) {
  if (summary.gap_count == 0) return ", no gaps";
  return ", " + std::to_string(summary.gap_count) + " gaps, the longest " +
         format_duration(summary.gap_longest_ns);
}
}  // namespace

DataSummary summarise(const BarSeries& series) {
  const std::vector<Bar>& bars = series.bars;
  DataSummary summary;
  summary.row_count = bars.size();
  if (bars.empty()) return summary;
  summary.first_ns = bars.front().timestamp_ns;
  summary.last_ns = bars.back().timestamp_ns;
  count_bars(bars, summary);
  if (bars.size() < 2) return summary;
  std::vector<std::int64_t> steps_ns;
  steps_ns.reserve(bars.size() - 1);
  for (std::size_t i = 1; i < bars.size(); ++i)
    steps_ns.push_back(bars[i].timestamp_ns - bars[i - 1].timestamp_ns);
  const auto middle = steps_ns.begin() + static_cast<std::ptrdiff_t>((steps_ns.size() - 1) / 2);
  std::nth_element(steps_ns.begin(), middle, steps_ns.end());
  summary.bar_length_ns = *middle;
  for (const std::int64_t step_ns : steps_ns) {
    if (step_ns <= summary.bar_length_ns + summary.bar_length_ns / 2) continue;
    ++summary.gap_count;
    summary.gap_longest_ns = std::max(summary.gap_longest_ns, step_ns);
  }
  return summary;
}

std::string to_text(const DataSummary& summary) {
  std::string text = std::to_string(summary.row_count) + " bars";
  if (summary.row_count == 0) return text;
  if (summary.bar_length_ns != 0) text += " of " + format_duration(summary.bar_length_ns);
  text +=
      ", " + format_time_briefly(summary.first_ns) + " to " + format_time_briefly(summary.last_ns);
  return text + gap_text(summary) + ", " + std::to_string(summary.repeat_count) + " repeats, " +
         std::to_string(summary.zero_volume_count) + " of volume 0";
}
}  // namespace drey::trainer
