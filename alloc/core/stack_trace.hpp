// stack_trace.hpp: where a call came from, for samples of the profile.
//
// The unwinder is the C++ runtime's, found when it is first wanted: libdrey itself does not load it.
// Frames of libdrey.so are left out; where drey is linked into the program they are part of the trace.
// Read next: profile.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::core {
/// Finds the unwinder. Fails: false; traces are empty then. Cost: may open a library and allocate, so
/// not from within an allocation. Threads: any; again is harmless.
bool open_stack_traces() noexcept;

/// Return addresses, innermost first. Returns: how many, at most `count_max`.
/// Threads: any; the unwinder may allocate.
[[nodiscard]] std::size_t take_stack_trace(std::uintptr_t* frames, std::size_t count_max) noexcept;
}  // namespace drey::core
