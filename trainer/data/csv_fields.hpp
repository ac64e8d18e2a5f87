// csv_fields.hpp: the splitting of a line of CSV into fields.
// Invariant: fields are views into the line, or into the splitter's own text when it has quotes.
// Read next: csv_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
/// Splits lines at commas; RFC 4180 quotes, spaces around fields dropped.
class FieldSplitter {
 public:
  /// The fields of `line`; they hold until the next call. Cost: no allocation once warm.
  [[nodiscard]] const std::vector<std::string_view>& split(std::string_view line);

 private:
  void split_quoted(std::string_view line);

  std::vector<std::string_view> fields_;
  std::string unquoted_;
};

}  // namespace drey::trainer
