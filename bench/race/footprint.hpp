// footprint.hpp: what an allocator costs a program that hardly uses it, and one that fills it.
// Read next: footprint.cpp, ../footprint_probe.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/machine.hpp"
#include "race/options.hpp"
#include "race/results.hpp"

#include <string>
#include <vector>

namespace drey::bench {
/// Bytes, a sample a round.
struct FootprintRow {
  std::string preload;  ///< what was put into LD_PRELOAD; empty for the C library
  AllocatorAnswer answer;
  double payload_bytes = 0;
  std::vector<double> rest_bytes;    ///< resident after one malloc and free
  std::vector<double> filled_bytes;  ///< growth by 64 MiB of 900-byte blocks, all written
  std::vector<double> kept_bytes;    ///< of that, still resident right after freeing all
};

struct Footprint {
  std::vector<FootprintRow> rows;  ///< the C library's first
  std::vector<Refusal> absent;     ///< allocators that could not be preloaded, and why
};

/// The C library, drey, and those of the known peers that are installed.
/// Fails: BadInput if the probe is missing; RaceFailed if a row is not of the allocator it names.
[[nodiscard]] Footprint measure_footprint(const FootprintOptions& options);

[[nodiscard]] std::string footprint_text(const Footprint& footprint, const Machine& machine);
[[nodiscard]] std::string footprint_json(const Footprint& footprint, const Machine& machine);
}  // namespace drey::bench
