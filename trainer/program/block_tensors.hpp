// block_tensors.hpp: a network's block of values as named arrays, and back.
// Weights lie in blocks, column-major and padded (numeric/network.hpp); files hold them as PyTorch
// does: NAME.LAYER.weight (outputs, inputs) row-major, NAME.LAYER.bias (outputs), nothing padded.
// The streams of a dueling network's last layer have names of their own: NAME.advantage.weight,
// NAME.value.weight, and so on.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/files/safetensors.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
void add_block(TensorWriter& writer, const std::string& name, const NetworkShape& shape,
               const AlignedArray<float>& block);

/// Fails: CheckpointError when arrays are missing, of another shape, or not finite.
void read_block(const TensorReader& reader, const std::string& name, const NetworkShape& shape,
                AlignedArray<float>& block);

/// FNV-1a over all weights and biases, layer by layer, in the order of the file.
[[nodiscard]] std::string block_hash(const NetworkShape& shape, const AlignedArray<float>& block);
}  // namespace drey::trainer
