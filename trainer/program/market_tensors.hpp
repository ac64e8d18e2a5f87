// market_tensors.hpp: what a checkpoint says about the bars it was made with: the names of the
// features, the normaliser fitted on the training rows, and which bars they were.
// Read next: market_problem.hpp, environments/market.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/market.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::trainer {
/// normaliser.median, normaliser.scale (225); metadata "features", "data.source", "data.bars" and
/// "data.fingerprint".
void save_market(TensorWriter& writer, const Market& market);

/// Fails: CheckpointError when it was made for another number or order of features.
void check_features(const TensorReader& reader);
/// Fails: CheckpointError when it was made for other bars.
void check_bars(const TensorReader& reader, const Market& market);
/// Fails: CheckpointError when it is none.
[[nodiscard]] Normaliser read_normaliser(const TensorReader& reader);
}  // namespace drey::trainer
