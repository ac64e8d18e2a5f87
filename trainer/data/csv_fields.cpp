// csv_fields.cpp: see csv_fields.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/csv_fields.hpp"

#include <cstddef>

namespace drey::trainer {
namespace {
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

const std::vector<std::string_view>& FieldSplitter::split(std::string_view line) {
  fields_.clear();
  if (line.find('"') != std::string_view::npos) {
    split_quoted(line);
    return fields_;
  }
  while (true) {
    const std::size_t comma = line.find(',');
    fields_.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields_;
    line.remove_prefix(comma + 1);
  }
}

void FieldSplitter::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // the views below must not move
  std::size_t start = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled) {
        unquoted_ += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields_.push_back(trimmed(std::string_view(unquoted_).substr(start)));
      start = unquoted_.size();
    } else {
      unquoted_ += c;
    }
  }
  fields_.push_back(trimmed(std::string_view(unquoted_).substr(start)));
}

}  // namespace drey::trainer
