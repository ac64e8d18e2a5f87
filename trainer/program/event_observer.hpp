// event_observer.hpp: the passes of a run as TensorBoard's curves, over environment steps.
// Tags are CleanRL's, so that runs of both lie in one chart: losses/td_loss, losses/q_values,
// charts/episodic_return (of the exploring agent), charts/SPS (environment steps a second),
// charts/epsilon, charts/learning_rate, eval/episodic_return (of the greedy one).
// Source of the tags: CleanRL's dqn.py and its evaluation.
// Read next: files/event_file.hpp, pass_record.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/files/event_file.hpp"
#include "trainer/program/pass_record.hpp"

namespace drey::trainer {
class EventObserver final : public PassObserver {
 public:
  /// Counts of a resumed run begin at `before`. Fails: SystemError when the file cannot be made.
  EventObserver(const std::string& folder, const PassRecord& before)
      : file_(folder), last_(before) {}

  void pass_done(const PassRecord& record) override;

 private:
  EventFile file_;
  PassRecord last_;
};
}  // namespace drey::trainer
