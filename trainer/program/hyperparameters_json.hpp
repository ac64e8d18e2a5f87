// hyperparameters_json.hpp: hyperparameters as JSON members named like the options, without "--".
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>

#include "trainer/program/config.hpp"

namespace drey::trainer {
inline constexpr const char* kDoubleOption = "--double";

[[nodiscard]] inline std::string member_of(const std::string& option) {
  return option.substr(2);
}

[[nodiscard]] inline nlohmann::json to_json(const Hyperparameters& hyper) {
  nlohmann::json json;
  for_each_hyperparameter(hyper, [&](const char* option, const auto& value, auto, auto, auto) {
    json[member_of(option)] = value;
  });
  json[member_of(kDoubleOption)] = hyper.double_dqn;
  return json;
}

/// Reads one value into `value`. Returns: false when the member is missing, of another kind or out
/// of `limits`.
template <class Number>
[[nodiscard]] bool read_member(const nlohmann::json& json, const std::string& option, Number& value,
                               const Limits<Number>& limits) {
  const auto member = json.find(member_of(option));
  if (member == json.end()) return false;
  const bool is_kind =
      std::is_floating_point_v<Number> ? member->is_number() : member->is_number_unsigned();
  if (!is_kind) return false;
  value = member->get<Number>();
  return value >= limits.low && value <= limits.high;
}
}  // namespace drey::trainer
