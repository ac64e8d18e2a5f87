// checkpoint_format.hpp: the names that the writer and the reader of checkpoints must agree on.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace drey::trainer {
/// Before the names of a member's tensors; the first member's have none, so that a lone agent's are as
/// everybody expects them.
[[nodiscard]] inline std::string member_prefix(std::size_t member) {
  return member == 0 ? std::string() : "agent" + std::to_string(member) + ".";
}

inline constexpr const char* kCheckpointFormat = "drey-train 2";
/// Had no worlds, waiting steps or priorities: cannot be gone on from exactly.
inline constexpr const char* kCheckpointFormatBefore = "drey-train 1";
}  // namespace drey::trainer
