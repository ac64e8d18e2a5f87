// config_file_writer.cpp: the writing half of config_file.hpp.
// Source of the form: TOML 1.0.0, toml.io/en/v1.0.0.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>
#include <type_traits>

#include "trainer/program/config_file.hpp"

namespace drey::trainer {
namespace {
/// A basic string of TOML.
std::string quoted_toml(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (code < 0x20 || code == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", code);
      quoted += escape.data();
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

/// A number that TOML takes for a real one.
std::string real_toml(const std::string& text) {
  const bool is_real = text.find_first_of(".e") != std::string::npos;
  return is_real ? text : text + ".0";
}

template <class Value, class Kind>
std::string value_toml(const Value& value, const Kind& kind) {
  std::string text = text_of(value, kind);
  if constexpr (std::is_same_v<Kind, Limits<double>>) return real_toml(text);
  if constexpr (std::is_same_v<Kind, Widths>) return "[" + text + "]";
  if constexpr (std::is_same_v<Kind, Flag>) return text;
  // TOML's whole numbers end at 2^63 - 1: beyond that the digits are text.
  if constexpr (std::is_same_v<Kind, Limits<std::uint64_t>>) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return text;
  }
  return quoted_toml(text);
}
}  // namespace

std::string config_file_text(const Config& config) {
  std::string text = "# Options of drey-train: drey-train --config FILE\n";
  for_each_option(config, [&](const std::string& option, const auto& value, const auto& kind,
                              const std::string& unit, const std::string& sentence) {
    auto read_back = value;
    const bool is_set = read_text(text_of(value, kind), read_back, kind);
    const std::string hint = hint_of(kind, unit);
    text += "\n# " + sentence + (hint.empty() ? "" : " " + hint) + "\n";
    if (!is_set) text += "# ";
    text += option.substr(2) + " = " + (is_set ? value_toml(value, kind) : "") + "\n";
  });
  return text;
}
}  // namespace drey::trainer
