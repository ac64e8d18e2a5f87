// onnx_model.hpp: a trained network as an ONNX file: raw features in, one value an action out.
// The normalisation is part of the graph, so whoever runs the file need not know of it:
//   features -> Sub median -> Div scale -> Clip -> Gemm -> Relu -> ... -> Gemm -> q_values
// With a dueling head the last two Gemms are value and advantage: Q = V + A - mean of A.
// Opset 13, IR version 7: what runtimes of 2020 and later read. Metadata: feature_names, actions.
// Source: onnx.proto3 and Operators.md of the ONNX project; Wang et al. 2016, equation 9.
// Read next: onnx_model.cpp, protobuf_writer.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace drey::trainer {
/// Shape: weights (outputs, inputs) row-major, bias (outputs), as PyTorch's Linear.
struct OnnxLayer {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::vector<float> weights;
  std::vector<float> bias;
};

struct OnnxModel {
  std::vector<std::string> feature_names;
  std::vector<std::string> action_names;
  std::vector<float> median;       ///< of each feature
  std::vector<float> scale;        ///< of each feature, > 0
  float limit = 10.0F;             ///< normalised features are held within +-limit
  std::vector<OnnxLayer> layers;   ///< ReLU after each but the last
  std::optional<OnnxLayer> value;  ///< dueling: takes what the last layer takes; one output
  std::vector<std::pair<std::string, std::string>> metadata;  ///< more keys and values
};

/// The bytes of the file. Input "features" (batch, features), output "q_values" (batch, actions).
/// Requires: every size fits its neighbours.
[[nodiscard]] std::string onnx_contents(const OnnxModel& model);
}  // namespace drey::trainer
