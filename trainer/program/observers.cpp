// observers.cpp: see observers.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/observers.hpp"

#include <memory>

#include "trainer/program/event_observer.hpp"
#include "trainer/program/metrics.hpp"

namespace drey::trainer {
void add_observers(Session& session, const Config& config, const Problem& problem) {
  const RunOptions& run = config.run;
  session.add_observer(std::make_unique<PassLog>(run.epochs, problem.return_unit()));
  if (!run.metrics.empty()) {
    session.add_observer(std::make_unique<MetricsFile>(run.metrics, session.state().passes_done));
  }
  if (!run.tensorboard.empty()) {
    PassRecord before;
    before.environment_steps = session.agent().environment_steps();
    before.gradient_steps = session.agent().gradient_steps();
    session.add_observer(std::make_unique<EventObserver>(run.tensorboard, before));
  }
}
}  // namespace drey::trainer
