// kernel_network.hpp: forward() and backward() of network.hpp by the kernels of one instruction
// set, bias, ReLU and ReLU's mask included in the products.
// Invariant: a column's values depend neither on the size of the batch nor on its place in it.
// Read next: kernel_network.cpp, network.hpp (the same by Eigen), kernels/product_shape.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
/// As forward() of network.hpp. Requires: inputs.stride a multiple of 16.
void forward(const Kernels& kernels, const NetworkShape& shape, const float* block,
             Columns<const float> inputs, std::size_t batch, Activations<float>& activations);

/// As backward() of network.hpp. `transposed` is room for transposed_size(shape) floats.
void backward(const Kernels& kernels, const NetworkShape& shape, const float* block,
              Columns<const float> inputs, std::size_t batch, Activations<float>& activations,
              Activations<float>& deltas, AlignedArray<float>& transposed, float* gradient);

/// Floats of the largest layer but the first, transposed.
[[nodiscard]] std::size_t transposed_size(const NetworkShape& shape);
}  // namespace drey::trainer
