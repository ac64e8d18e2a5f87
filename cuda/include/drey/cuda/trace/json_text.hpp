// json_text.hpp: a JSON text written front to back: objects, arrays, whole numbers, fractions, words.
// Invariant: after each open() and close() in pairs the text is JSON; it is one line a member.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace drey::cuda::trace {
class JsonText {
 public:
  /// '{' or '['; the name is left out in arrays and at the top.
  JsonText& open(char bracket, std::string_view name = {}) {
    begin(name);
    text_ += bracket;
    indent_ += 2;
    is_first_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    indent_ -= 2;
    if (!is_first_) new_line();
    text_ += bracket;
    is_first_ = false;
    return *this;
  }
  JsonText& add(std::string_view name, std::uint64_t value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
  }
  JsonText& add(std::string_view name, double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    begin(name);
    text_ += digits;
    return *this;
  }
  JsonText& add(std::string_view name, std::string_view value) {
    begin(name);
    add_quoted(value);
    return *this;
  }
  JsonText& add_null(std::string_view name) {
    begin(name);
    text_ += "null";
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void new_line() {
    text_ += '\n';
    text_.append(indent_, ' ');
  }
  void begin(std::string_view name) {
    if (!is_first_) text_ += ',';
    if (!text_.empty()) new_line();
    is_first_ = false;
    if (name.empty()) return;
    add_quoted(name);
    text_ += ": ";
  }
  void add_quoted(std::string_view value) {
    text_ += '"';
    for (const char character : value) {
      char code[8];
      if (character == '"' || character == '\\') {
        text_ += '\\';
        text_ += character;
      } else if (static_cast<unsigned char>(character) < ' ') {
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(character));
        text_ += code;
      } else {
        text_ += character;
      }
    }
    text_ += '"';
  }

  std::string text_;
  std::size_t indent_ = 0;
  bool is_first_ = true;
};
}  // namespace drey::cuda::trace
