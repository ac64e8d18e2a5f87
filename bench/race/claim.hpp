// claim.hpp: believes no program's name. Each says whose malloc it has; a program whose answer is
// not the allocator it stands for gets no row.
// Read next: claim.cpp, results.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/results.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace drey::bench {
/// Reads {"name", "version", "how"}. Fails: RaceFailed naming `program`.
[[nodiscard]] AllocatorAnswer parse_answer(const std::string& program, const nlohmann::json& json);

/// Why the answer is not what the racer claims; nothing if it is.
[[nodiscard]] std::optional<std::string> find_lie(const std::string& claim,
                                                  const AllocatorAnswer& answer);

/// Asks a micro program: runs it with --active-allocator.
[[nodiscard]] AllocatorAnswer ask(const std::filesystem::path& program);

/// Finds every program of the race. Fails: BadInput naming the first that is missing.
[[nodiscard]] std::vector<Racer> find_racers(const RaceOptions& options);
}  // namespace drey::bench
