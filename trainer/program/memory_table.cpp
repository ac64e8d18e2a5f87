// memory_table.cpp: see memory_table.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/memory_table.hpp"

#include "trainer/agent/agent.hpp"

namespace drey::trainer {
void add_memory(MemoryTable& table, Agent& agent) {
  std::size_t replay = 0;
  std::size_t pools = 0;
  Ensemble& ensemble = agent.ensemble();
  for (std::size_t index = 0; index < ensemble.replay_count(); ++index) {
    const ReplayStore& store = ensemble.replay(index);
    (store.form() == ReplayForm::kPool ? pools : replay) += store.bytes();
  }
  std::size_t networks = 0;
  std::size_t optimiser = 0;
  std::size_t batches = 0;
  for (std::size_t index = 0; index < ensemble.count(); ++index) {
    Member& member = ensemble.member(index);
    Learner& learner = member.learner();
    networks += 3 * learner.network().size() * sizeof(float);  // itself, target, gradient
    optimiser += 2 * learner.adam().first_moment().size() * sizeof(float);
    batches += member.bytes() + learner.batch_bytes();
  }
  table.add("replay", replay);
  table.add("pools", pools);
  table.add("networks", networks);
  table.add("optimiser", optimiser);
  table.add("batch_buffers", batches);
  table.add("monitor", agent.monitor().bytes());
}
}  // namespace drey::trainer
