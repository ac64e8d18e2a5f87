// text_table.cpp: see text_table.hpp.
// SPDX-License-Identifier: MIT
#include "race/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace drey::bench {
namespace {
constexpr std::size_t kGapWidth = 2;
}

TextTable::TextTable(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
  add_rule();
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

void TextTable::add_rule() {
  rows_.emplace_back();
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widest(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widest[column] = std::max(widest[column], row[column].size());
    }
  }
  return widest;
}

std::string TextTable::text() const {
  const std::vector<std::size_t> widest = widths();
  const std::size_t total = std::accumulate(widest.begin(), widest.end(), std::size_t{0}) +
                            kGapWidth * (widest.size() - 1);
  std::string text;
  for (const auto& row : rows_) {
    std::string line = row.empty() ? std::string(total, '-') : std::string();
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widest[column] - row[column].size(), ' ');
      line +=
          column == 0 ? row[column] + padding : std::string(kGapWidth, ' ') + padding + row[column];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}
}  // namespace drey::bench
