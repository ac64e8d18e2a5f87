// onnx_export.hpp: a learner's network as an ONNX model.
// Read next: files/onnx_model.hpp, network_interface.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/agent/learner.hpp"
#include "trainer/files/onnx_model.hpp"
#include "trainer/program/network_interface.hpp"

namespace drey::trainer {
/// `weights_hash` goes into the metadata, so that file and run can be told to belong together.
[[nodiscard]] OnnxModel onnx_model(const Learner& learner, const NetworkInterface& names,
                                   const std::string& weights_hash);
}  // namespace drey::trainer
