// checkpoint_format.hpp: the names that the writer and the reader of checkpoints must agree on.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::trainer {
inline constexpr const char* kCheckpointFormat = "drey-train 2";
/// Had no worlds, waiting steps or priorities: cannot be gone on from exactly.
inline constexpr const char* kCheckpointFormatBefore = "drey-train 1";
}  // namespace drey::trainer
