// report_page.hpp: what a run's page holds: equity, loss and value over the passes, returns, figures and
// every hyperparameter.
// Read next: files/training_report.hpp, run_outcome.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/files/training_report.hpp"
#include "trainer/program/run_outcome.hpp"

namespace drey::trainer {
[[nodiscard]] TrainingReport report_page(const RunOutcome& outcome);
}  // namespace drey::trainer
