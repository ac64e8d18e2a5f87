// data_fault.hpp: the one form in which bad input is reported:
//   FILE: row 7, column 'close': expected a number, found 'abc'
// Row is the line number, the header being row 1. The text is one line whatever the file holds.
// Read next: csv_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
/// Where in which file. `row` 0 and an empty `column` are left out of the message.
struct DataPlace {
  std::string_view file;
  std::size_t row = 0;
  std::string_view column = {};
};

/// Fails: always, with a DataError at `place`.
[[noreturn]] void throw_data_error(const DataPlace& place, std::string_view expected,
                                   std::string_view found);

/// `text` between single quotes, cut after 40 characters, unprintable bytes shown as '?'.
[[nodiscard]] std::string quoted(std::string_view text);

/// The first line of `text`, cut after `count_max` characters and made printable as in quoted().
[[nodiscard]] std::string one_line(std::string_view text, std::size_t count_max = 160);

/// "A, B, C and 4 more": at most `shown_max` of the words, made printable as in quoted().
[[nodiscard]] std::string listed(const std::vector<std::string>& words, std::size_t shown_max = 12);
}  // namespace drey::trainer
