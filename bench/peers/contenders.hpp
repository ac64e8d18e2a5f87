// contenders.hpp: who takes part, and proof that each library really is the malloc of the programs
// it is preloaded into: a path that the loader cannot use would measure the C library in its name.
// Read next: contenders.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/head_to_head.hpp"
#include "peers/peer_options.hpp"

#include <string>
#include <vector>

namespace drey::bench {
/// drey, the system's malloc, then the peers as they were given; each has answered.
/// Fails: BadInput for a peer that is not NAME=LIBRARY, a name given twice, a file that is not there
/// or is not preloaded, an unknown reference, a missing program.
[[nodiscard]] std::vector<Contender> find_contenders(const PeerOptions& options);

/// Throws RaceFailed unless `library`, which a measuring process found its malloc in, is the
/// contender's.
void require_library(const Contender& contender, const std::string& library);

/// Fails: BadInput naming the target that builds it.
void require_program(const std::filesystem::path& program);
}  // namespace drey::bench
