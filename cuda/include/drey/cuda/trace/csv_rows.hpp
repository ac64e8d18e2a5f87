// csv_rows.hpp: rows of numbers and words between commas, with a head that names the columns. No
// quotes: neither format that is read here has any.
// Invariant: every field that is handed out is of the present row; row 1 is the head.
// Read next: csv_files.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/trace/trace_builder.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drey::cuda::trace {
class CsvRows {
 public:
  CsvRows(std::string_view text, TraceBuilder& builder) : text_(text), builder_(builder) {
    next();
    head_ = fields_;
  }

  /// Fails: BadInput if the head has no such column.
  std::size_t column(std::string_view name) {
    for (std::size_t index = 0; index < head_.size(); ++index) {
      if (head_[index] == name) return index;
    }
    builder_.fail("head", "a column '" + std::string(name) + "'", "none");
  }

  /// The next row that is not empty; false at the end.
  bool next() {
    while (!text_.empty()) {
      builder_.set_place("row", ++row_);
      const std::size_t end = text_.find('\n');
      std::string_view line = text_.substr(0, end);
      text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line.empty()) continue;
      split(line);
      if (!head_.empty() && fields_.size() != head_.size()) {
        builder_.fail("columns", std::to_string(head_.size()), std::to_string(fields_.size()));
      }
      return true;
    }
    return false;
  }

  [[nodiscard]] std::uint64_t row() const { return row_; }
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }

  /// A number to the base, behind "0x" or not where that is 16.
  [[nodiscard]] std::uint64_t number(std::size_t column, int base = 10) const {
    std::string_view text = fields_[column];
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
      builder_.fail(std::string(head_[column]),
                    base == 16 ? "a hexadecimal number" : "a number below 2^64",
                    "'" + std::string(fields_[column]) + "'");
    }
    return value;
  }

 private:
  void split(std::string_view line) {
    fields_.clear();
    for (;;) {
      const std::size_t comma = line.find(',');
      fields_.push_back(line.substr(0, comma));
      if (comma == std::string_view::npos) return;
      line.remove_prefix(comma + 1);
    }
  }

  std::string_view text_;
  TraceBuilder& builder_;
  std::vector<std::string_view> head_;
  std::vector<std::string_view> fields_;
  std::uint64_t row_ = 0;
};
}  // namespace drey::cuda::trace
