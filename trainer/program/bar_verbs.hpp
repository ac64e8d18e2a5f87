// bar_verbs.hpp: what drey-train does with bars beside training on them:
//   drey-train convert IN OUT     any bars to a bar file, which is mapped when it is read
//   drey-train gen-bars OUT       bars from a seed, as a bar file
// Read next: trainer/data/bar_file.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace drey::trainer {
/// Runs the verb that the first argument is. Returns: the exit status; nothing when it is no verb.
/// Fails: Error; OUT is then as it was.
[[nodiscard]] std::optional<int> run_bar_verb(int argument_count, const char* const* arguments);
}  // namespace drey::trainer
