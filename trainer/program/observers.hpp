// observers.hpp: which outputs a run has. A new one is a PassObserver and a line in observers.cpp.
// Read next: pass_record.hpp, metrics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/program/config.hpp"
#include "trainer/program/problem.hpp"
#include "trainer/program/session.hpp"

namespace drey::trainer {
/// Adds what `config` asks for. Requires: `problem` outlives the session.
void add_observers(Session& session, const Config& config, const Problem& problem);
}  // namespace drey::trainer
