// data_fault.cpp: see data_fault.hpp.
// Invariant: no byte of the input reaches the terminal unless it is printable ASCII, so a damaged
// file can neither break the line nor send control codes.
// SPDX-License-Identifier: MIT
#include "trainer/data/data_fault.hpp"

#include <algorithm>

#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
std::string printable(std::string_view text, std::size_t shown_max = 40) {
  std::string result(text.substr(0, shown_max));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() > shown_max) result += "...";
  return result;
}
}  // namespace

std::string quoted(std::string_view text) {
  std::string result(1, '\'');
  result += printable(text);
  result += '\'';
  return result;
}

std::string one_line(std::string_view text, std::size_t count_max) {
  return printable(text.substr(0, text.find('\n')), count_max);
}

std::string listed(const std::vector<std::string>& words, std::size_t shown_max) {
  std::string result;
  const std::size_t shown = std::min(words.size(), shown_max);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i != 0) result += ", ";
    result += printable(words[i]);
  }
  if (words.size() > shown) result += " and " + std::to_string(words.size() - shown) + " more";
  return result;
}

void throw_data_error(const DataPlace& place, std::string_view expected, std::string_view found) {
  std::string message(place.file);
  if (place.row != 0) message += ": row " + std::to_string(place.row);
  if (!place.column.empty()) {
    message += place.row != 0 ? ", column " : ": column ";
    message += quoted(place.column);
  }
  message += ": expected ";
  message += expected;
  message += ", found ";
  message += found;
  throw DataError(message);
}
}  // namespace drey::trainer
