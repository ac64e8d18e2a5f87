// guest.hpp: a racer that is a program of its own: it prints its figures as one JSON object, so that
// its allocator, flags and libraries stay out of drey's process.
//
// The one there is, is libtorch (torch/torch_steps.cpp). It prints
//   {"name": "libtorch 1.13.0", "how": "a line", "steps_per_second": 900.5, "heap_calls_per_step": null}
// and is run as PROGRAM --seconds X [--double], once for each round, on one thread.
// Read next: guest.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace drey::bench {
struct GuestFigures {
  std::string name;
  std::string how;  ///< what its figures depend on: "OpenBLAS with kernels for SkylakeX"
  double steps_per_second = 0;
  double heap_calls = -1;  ///< of a step; -1: it does not count them
};

/// Name and folder of `program` with "-torch" behind it. Returns: an empty path if there is no such file.
[[nodiscard]] std::filesystem::path guest_of(const std::filesystem::path& program);

/// The figures that `text` holds. `program` names it in messages.
/// Fails: RaceFailed, one line, if it is anything else than such an object.
[[nodiscard]] GuestFigures read_guest_figures(const std::string& program, const std::string& text);

/// Runs it for `seconds` of its CPU time and some more to start.
/// Fails: RaceFailed, one line, if it cannot be run, fails, takes far too long, or prints no figures.
[[nodiscard]] GuestFigures run_guest(const std::filesystem::path& program, double seconds,
                                     bool double_dqn);
}  // namespace drey::bench
