// hyperparameters_json.hpp: hyperparameters as JSON members named like the options, without "--".
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>

#include "trainer/program/config.hpp"

namespace drey::trainer {
[[nodiscard]] inline std::string member_of(const std::string& option) {
  return option.substr(2);
}

/// Numbers and flags as such, words and widths as text.
template <class Value, class Kind>
[[nodiscard]] nlohmann::json value_json(const Value& value, const Kind& kind) {
  if constexpr (std::is_arithmetic_v<Value>) return value;
  return text_of(value, kind);
}

[[nodiscard]] inline nlohmann::json to_json(const Hyperparameters& hyper) {
  nlohmann::json json;
  for_each_hyperparameter(hyper, [&](const char* option, const auto& value, const auto& kind, auto,
                                     auto) { json[member_of(option)] = value_json(value, kind); });
  return json;
}

/// Reads one value into `value`. Returns: false when the member is missing, of another kind or out
/// of its limits.
template <class Value, class Kind>
[[nodiscard]] bool read_member(const nlohmann::json& json, const std::string& option, Value& value,
                               const Kind& kind) {
  const auto member = json.find(member_of(option));
  if (member == json.end() || member->is_string() == std::is_arithmetic_v<Value>) return false;
  // Numbers are written with as many digits as it takes to read the same number back.
  const std::string text =
      member->is_string() ? member->template get<std::string>() : member->dump();
  return read_text(text, value, kind);
}
}  // namespace drey::trainer
