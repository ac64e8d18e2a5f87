// network_interface.hpp: what goes into a problem's network and what comes out, by name: for files that
// leave this program (ONNX, reports).
// Read next: problem.hpp, onnx_export.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace drey::trainer {
/// An input x reaches the network as (x - median) / scale, held within +-limit.
struct NetworkInterface {
  std::vector<std::string> inputs;
  std::vector<std::string> actions;
  std::vector<float> median;
  std::vector<float> scale;
  float limit = std::numeric_limits<float>::max();
};

/// For a problem without names: observation_0, ..., action_0, ..., taken as they are.
[[nodiscard]] inline NetworkInterface numbered_interface(std::size_t width, std::size_t actions) {
  NetworkInterface names;
  for (std::size_t i = 0; i < width; ++i)
    names.inputs.push_back("observation_" + std::to_string(i));
  for (std::size_t i = 0; i < actions; ++i) names.actions.push_back("action_" + std::to_string(i));
  names.median.assign(width, 0.0F);
  names.scale.assign(width, 1.0F);
  return names;
}
}  // namespace drey::trainer
