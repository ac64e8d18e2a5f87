// cpp_runtime.hpp: what operator new needs of the C++ runtime, found only when memory is out.
// Read next: cpp_runtime.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <new>

namespace drey::override::cpp_runtime {
/// The program's new_handler; null where it has none, or no C++ runtime.
[[nodiscard]] std::new_handler new_handler() noexcept;

/// Throws std::bad_alloc. Where no C++ runtime is loaded nobody could catch it: one line, abort.
[[noreturn, gnu::cold]] void throw_bad_alloc();
}  // namespace drey::override::cpp_runtime
