// event_observer.cpp: see event_observer.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/event_observer.hpp"

#include <vector>

namespace drey::trainer {
void EventObserver::pass_done(const PassRecord& record) {
  std::vector<Scalar> scalars = {{"charts/epsilon", record.epsilon},
                                 {"charts/learning_rate", record.learning_rate},
                                 {"charts/episodic_return", record.train_return}};
  // Before the first gradient step there is no loss, and no time was taken.
  const auto learned = static_cast<double>(record.gradient_steps - last_.gradient_steps);
  if (learned > 0) {
    const auto stepped = static_cast<double>(record.environment_steps - last_.environment_steps);
    scalars.push_back({"losses/td_loss", record.loss});
    scalars.push_back({"losses/q_values", record.q_mean});
    scalars.push_back({"charts/SPS", record.steps_per_second * stepped / learned});
  }
  if (record.validation_return)
    scalars.push_back({"eval/episodic_return", *record.validation_return});
  file_.add(record.environment_steps, scalars);
  last_ = record;
}
}  // namespace drey::trainer
