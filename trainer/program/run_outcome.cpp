// run_outcome.cpp: see run_outcome.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/run_outcome.hpp"

#include "trainer/files/output_file.hpp"
#include "trainer/program/onnx_export.hpp"
#include "trainer/program/report_page.hpp"

namespace drey::trainer {
void write_exports(const RunOutcome& outcome) {
  const RunOptions& run = outcome.config.run;
  if (!run.onnx.empty()) {
    write_file(run.onnx, onnx_contents(onnx_model(outcome.agent.learner(),
                                                  outcome.problem.network_interface(),
                                                  outcome.weights_hash)));
  }
  if (!run.report.empty()) write_file(run.report, training_report_html(report_page(outcome)));
}
}  // namespace drey::trainer
