// text_table.hpp: rows of text in aligned columns; the first column to the left, the others to the
// right. Plain ASCII, so that it survives a log, a mail and a narrow font.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace drey::bench {
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  /// Missing cells are empty. Requires: not more cells than the header has.
  void add_row(std::vector<std::string> cells);
  /// A rule across, before a sum.
  void add_rule();

  /// Lines end in '\n', without trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};
}  // namespace drey::bench
