// leak_report.hpp: what is live now, by size and, where the profile was on, by stack.
//
// It claims no more than that: the C library's buffers, the loader's tables and objects that a program
// never means to free are live at exit too. Blocks on their way to threads that still run count as
// live.
// Threads: any. Read next: survey.hpp, profile.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// Text into an open file, under "live " and `when`. Collects first, so that what was freed is not
/// told of.
void write_leak_report(int descriptor, const char* when) noexcept;
}  // namespace drey::core
