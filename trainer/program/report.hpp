// report.hpp: what a run says in the end: a few lines for people, one JSON object for programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/program/config.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
/// "drey 0.1.0, linked into the program": asked of the process.
[[nodiscard]] std::string allocator_text();

/// "avx512, f32": instruction set of the products, and what their operands are rounded to.
/// Fails: ConfigError when DREY_ISA cannot be followed.
[[nodiscard]] std::string kernels_text(const Hyperparameters& hyper);

/// Steps, seconds, weights hash.
void log_result(const SessionResult& result, const std::string& hash);

/// The contents of --stats-json: see README.md for its members.
/// Of all members of an agent.
[[nodiscard]] std::string weights_hash(const Ensemble& ensemble);

/// What a run was and did. Without training, result has no steps.
struct RunFigures {
  const SessionResult& result;
  const std::string& hash;
  std::size_t rank_count;
};

[[nodiscard]] std::string stats_json(const Config& config, const Problem& problem, Agent& agent,
                                     const RunFigures& figures);
}  // namespace drey::trainer
