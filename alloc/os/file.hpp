// file.hpp: the few files the allocator writes for people: reports, profiles.
//
// Contract: noexcept; errno is kept; an error is a positive errno value; raw system calls, so no
// function is a cancellation point and none allocates. Nothing on malloc's or free's way comes here.
// Read next: core/report_writer.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::os {
inline constexpr int kStandardError = 2;

/// Opens `path` to write from its start; what was there is gone. Returns: a descriptor; -errno.
[[nodiscard]] int open_to_write(const char* path) noexcept;

/// Writes all of it. Returns: 0 or the error.
[[nodiscard]] int write_all(int descriptor, const char* text, std::size_t bytes) noexcept;

/// Appends the contents of the file `path`. Returns: 0 or the error.
[[nodiscard]] int append_file(int descriptor, const char* path) noexcept;

/// Returns: 0 or the error (a full disk may show only here).
int close_file(int descriptor) noexcept;

/// Keeps a second descriptor of standard error for reports at exit: many programs have closed theirs
/// by then. Threads: once, while there is one.
void keep_standard_error() noexcept;

/// The descriptor that was kept, if it still is what it was; else kStandardError.
[[nodiscard]] int kept_standard_error() noexcept;

/// The calling process.
[[nodiscard]] int process_id() noexcept;

/// What an errno value means, in English; never allocates.
[[nodiscard]] const char* error_text(int error) noexcept;
}  // namespace drey::os
