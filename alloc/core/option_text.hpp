// option_text.hpp: options as people write and read them: values parsed, rows printed.
//
// Numbers are decimal, with a sign where the range has one; bytes may end in K, M, G or T (steps of
// 1,024), as in 512K; choices are their words, or the words' numbers.
// Read next: options.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/options.hpp"
#include "core/report_writer.hpp"

namespace drey::core {
/// Value that `text` means in `row`. Fails: false (no value of the row, out of range).
/// Requires: not a path.
[[nodiscard]] bool parse_option(const OptionRow& row, const char* text,
                                std::int64_t& value) noexcept;

/// True for the row's name, and for its variable's.
[[nodiscard]] bool is_named(const OptionRow& row, const char* name) noexcept;

void add_variable(ReportWriter& report, const OptionRow& row) noexcept;
/// "-1 to 3600000 ms", "abort or warn", "the name of a file".
void add_range(ReportWriter& report, const OptionRow& row) noexcept;
void add_value(ReportWriter& report, const OptionRow& row, std::int64_t value) noexcept;
void add_fallback(ReportWriter& report, const OptionRow& row) noexcept;
/// What is in force now.
void add_present(ReportWriter& report, const OptionRow& row) noexcept;

/// The whole table: two lines a row.
void add_option_table(ReportWriter& report) noexcept;
}  // namespace drey::core
