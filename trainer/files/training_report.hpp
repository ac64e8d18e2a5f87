// training_report.hpp: a training run as one HTML page: figures, curves, settings. The page holds all
// it needs (style and SVG), no script, and is well-formed XML too.
// Read next: training_report.cpp, line_chart.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/files/line_chart.hpp"

namespace drey::trainer {
using ReportRows = std::vector<std::pair<std::string, std::string>>;

struct TrainingReport {
  std::string title;
  std::string subtitle;           ///< one sentence
  ReportRows figures;             ///< big numbers: what, value
  std::vector<LineChart> charts;  ///< in the order of the page
  ReportRows results;             ///< the rest of the numbers
  ReportRows settings;            ///< hyperparameters
};

[[nodiscard]] std::string training_report_html(const TrainingReport& report);
}  // namespace drey::trainer
