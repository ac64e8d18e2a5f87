// checkpoint_format.hpp: the names that the writer and the reader of checkpoints must agree on.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/features/feature_names.hpp"

namespace drey::trainer {
inline constexpr const char* kCheckpointFormat = "drey-train 1";

/// All feature names in order, with commas between: a checkpoint is for these features only.
[[nodiscard]] inline std::string feature_names_text() {
  std::string text;
  for (const std::string_view name : kFeatureNames) {
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}
}  // namespace drey::trainer
