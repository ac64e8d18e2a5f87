// replay_tensors.hpp: what an agent remembers, as arrays of a checkpoint: the replay
// (replay.*, one value a transition), its priorities where it has them, and of each world the steps
// that wait for those after them (window.*).
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/agent.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::trainer {
void add_replay(TensorWriter& writer, Agent& agent);

/// Rows must be below `row_end`, actions be the agent's, numbers finite, priorities above 0; what they
/// name is in `table` again. Fails: CheckpointError.
void restore_replay(const TensorReader& reader, std::size_t row_end, const ObservationTable& table,
                    Agent& agent);
}  // namespace drey::trainer
