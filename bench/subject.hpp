// subject.hpp: benchmarks call plain malloc; which one that is, is decided when they are linked.
//
// Invariant: a binary that claims an allocator runs on it or does not run. The claim comes from the
// build (DREY_BENCH_SUBJECT), the truth from the process (drey::active_allocator).
// One binary per allocator, never two in a process.
// Read next: subject.cpp, micro/main.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace drey::bench {
/// What the build linked: "drey", "glibc" or "mimalloc".
[[nodiscard]] const char* claimed_allocator() noexcept;

/// The process's own answer: {"name": ..., "version": ..., "how": ...}.
[[nodiscard]] std::string active_allocator_json();

/// With `--active-allocator` among the arguments: prints active_allocator_json() and exits with 0.
/// Else, if the active allocator is not the claimed one: one line on standard error, exit 1.
void require_claimed_allocator(int argc, char** argv);
}  // namespace drey::bench
