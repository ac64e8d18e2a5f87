// pool_reports.hpp: what is said when a pool of vectors is misused: one line, then abort.
// Read next: pool_reports.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey {
[[noreturn, gnu::cold]] void report_stray_vector(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_given_back_twice(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_never_taken(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_twice_in_list(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_written_while_free(const void* vector) noexcept;
[[noreturn, gnu::cold]] void report_written_behind(const void* vector, const void* site) noexcept;
[[noreturn, gnu::cold]] void report_vectors_out(std::uint64_t taken_count) noexcept;

/// One line to standard error: the vector, and where it was taken (null: not known). Goes on.
[[gnu::cold]] void write_taken_line(const void* vector, const void* site) noexcept;
}  // namespace drey
