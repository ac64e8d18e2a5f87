// exit_reports.hpp: what the options ask for at the end of the process: statistics, live blocks, profile.
// Read next: process.cpp, which calls both.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// In the library's constructor, after the options are read: starts the profile, if it is wanted.
void prepare_exit_reports() noexcept;

/// In its destructor. A report that cannot be written is one line on standard error.
void write_exit_reports() noexcept;
}  // namespace drey::core
