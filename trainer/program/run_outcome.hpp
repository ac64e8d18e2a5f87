// run_outcome.hpp: a run that is over, as the files that are written in the end see it.
// Read next: report_page.hpp, onnx_export.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "trainer/agent/agent.hpp"
#include "trainer/program/config.hpp"
#include "trainer/program/pass_record.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
/// Points to what outlives it.
struct RunOutcome {
  const Config& config;
  Problem& problem;
  Agent& agent;
  const SessionResult& result;
  const std::string& weights_hash;
  const std::vector<PassRecord>& passes;  ///< of this run alone
};

/// Writes --onnx and --report, where they were given. Fails: SystemError.
void write_exports(const RunOutcome& outcome);

/// Keeps the records of all passes.
class PassHistory final : public PassObserver {
 public:
  explicit PassHistory(std::vector<PassRecord>& passes) : passes_(passes) {}
  void pass_done(const PassRecord& record) override { passes_.push_back(record); }

 private:
  std::vector<PassRecord>& passes_;
};
}  // namespace drey::trainer
