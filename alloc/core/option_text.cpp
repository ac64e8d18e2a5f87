// option_text.cpp: see option_text.hpp.
// SPDX-License-Identifier: MIT
#include "core/option_text.hpp"

#include <cstring>

namespace drey::core {
namespace {
/// Index of `text` among the words of `words` separated by '|'; -1 if it is none of them.
std::int64_t word_index(const char* words, const char* text) noexcept {
  const std::size_t length = std::strlen(text);
  std::int64_t index = 0;
  for (const char* word = words;; ++index) {
    const char* const bar = std::strchr(word, '|');
    const std::size_t word_length =
        bar == nullptr ? std::strlen(word) : static_cast<std::size_t>(bar - word);
    if (word_length == length && std::memcmp(word, text, length) == 0) return index;
    if (bar == nullptr) return -1;
    word = bar + 1;
  }
}

void add_word(ReportWriter& report, const char* words, std::int64_t index) noexcept {
  for (; index > 0; --index) words = std::strchr(words, '|') + 1;
  for (; *words != '\0' && *words != '|'; ++words) {
    const char character[] = {*words, '\0'};
    report.add(character);
  }
}

/// Bits that a number of bytes is shifted by its last letter; -1: no such letter.
int shift_of(char letter) noexcept {
  constexpr const char* kLetters = "KMGT";
  if (letter == '\0') return -1;
  const char* const found = std::strchr(kLetters, letter);
  return found == nullptr ? -1 : 10 * (1 + static_cast<int>(found - kLetters));
}

bool parse_number(const char* text, bool is_bytes, std::int64_t& value) noexcept {
  const bool negative = *text == '-';
  if (negative) ++text;
  if (*text < '0' || *text > '9') return false;
  std::int64_t magnitude = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (magnitude > INT64_MAX / 10 - 1) return false;
    magnitude = magnitude * 10 + (*text - '0');
  }
  const int shift = is_bytes ? shift_of(*text) : -1;
  if (shift >= 0) {
    if (magnitude > INT64_MAX >> shift) return false;
    magnitude <<= shift;
    ++text;
  }
  value = negative ? -magnitude : magnitude;
  return *text == '\0';
}

[[nodiscard]] char upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

[[nodiscard]] bool has_words(const OptionRow& row) noexcept {
  return row.kind == OptionKind::kChoice || row.kind == OptionKind::kBoolean;
}
}  // namespace

bool parse_option(const OptionRow& row, const char* text, std::int64_t& value) noexcept {
  value = has_words(row) ? word_index(row.unit, text) : -1;
  if (value < 0 && !parse_number(text, row.kind == OptionKind::kBytes, value)) return false;
  return value >= row.min && value <= row.max;
}

bool is_named(const OptionRow& row, const char* name) noexcept {
  if (std::strcmp(row.name, name) == 0) return true;
  constexpr std::size_t kPrefix = 5;
  if (std::strncmp(name, "DREY_", kPrefix) != 0) return false;
  name += kPrefix;
  const char* own = row.name;
  while (*own != '\0' && upper(*own) == *name) {
    ++own;
    ++name;
  }
  return *own == '\0' && *name == '\0';
}

void add_variable(ReportWriter& report, const OptionRow& row) noexcept {
  report.add("DREY_");
  for (const char* letter = row.name; *letter != '\0'; ++letter) {
    const char character[] = {upper(*letter), '\0'};
    report.add(character);
  }
}

void add_value(ReportWriter& report, const OptionRow& row, std::int64_t value) noexcept {
  if (has_words(row)) return add_word(report, row.unit, value);
  if (row.kind == OptionKind::kBytes) {
    report.add_bytes(static_cast<std::uint64_t>(value));
  } else {
    report.add_signed(value);
  }
}

void add_range(ReportWriter& report, const OptionRow& row) noexcept {
  if (row.kind == OptionKind::kPath) {
    report.add("the name of a file, up to ").add(TextSetting::kBytesMax - 1).add(" bytes");
    return;
  }
  if (has_words(row)) {
    for (std::int64_t index = 0; index <= row.max; ++index) {
      report.add(index == 0 ? "" : index == row.max ? " or " : ", ");
      add_word(report, row.unit, index);
    }
    return;
  }
  add_value(report, row, row.min);
  report.add(" to ");
  add_value(report, row, row.max);
  report.add(" ").add(row.unit);
}

void add_fallback(ReportWriter& report, const OptionRow& row) noexcept {
  if (row.kind == OptionKind::kPath) {
    report.add("none");
    return;
  }
  add_value(report, row, row.fallback);
}

void add_present(ReportWriter& report, const OptionRow& row) noexcept {
  if (row.kind != OptionKind::kPath) return add_value(report, row, row.load());
  char text[TextSetting::kBytesMax];
  row.path->copy_to(text);
  report.add(text);
}

void add_option_table(ReportWriter& report) noexcept {
  for (const OptionRow& row : option_rows()) {
    report.add("  ");
    add_variable(report, row);
    report.add(": ");
    add_range(report, row);
    report.add(" (default: ");
    add_fallback(report, row);
    report.add(")\n      ").add(row.sentence).add("\n");
  }
}
}  // namespace drey::core
