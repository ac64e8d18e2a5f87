// config_file_reader.cpp: the reading half of config_file.hpp, on toml++.
// SPDX-License-Identifier: MIT
#include <toml++/toml.h>

#include <charconv>
#include <type_traits>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/config_file.hpp"

namespace drey::trainer {
namespace {
[[noreturn]] void refuse(const std::string& path, const toml::source_region& place,
                         const std::string& key, const std::string& expected,
                         const std::string& found) {
  throw ConfigError(path + ": line " + std::to_string(place.begin.line) +
                    (key.empty() ? "" : ", key " + trainer::quoted(key)) + ": expected " +
                    expected + ", found " + found);
}

std::string shortest(double number) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), number).ptr);
}

/// "[128, 64]" as "128,64"; other elements than whole numbers are left to the reader of the text.
std::string joined(const toml::array& numbers) {
  std::string text;
  for (const toml::node& element : numbers) {
    if (!text.empty()) text += ',';
    const auto number = element.value_exact<std::int64_t>();
    text += number ? std::to_string(*number) : "?";
  }
  return text;
}

/// What the node says, as the command line would say it.
std::string text_of_node(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  if (const auto real = node.value_exact<double>()) return shortest(*real);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const toml::array* const numbers = node.as_array()) return joined(*numbers);
  return {};
}

/// Whether the node's type is one that the kind is written as.
template <class Kind>
bool has_type(const toml::node& node, const Kind& /*kind*/) {
  if constexpr (std::is_same_v<Kind, Flag>) return node.is_boolean();
  if constexpr (std::is_same_v<Kind, Limits<double>>) return node.is_number();
  if constexpr (std::is_same_v<Kind, Limits<std::uint64_t>>) {
    const auto text = node.value_exact<std::string>();  // digits beyond 2^63 - 1
    return node.is_integer() || (text && text->size() >= 19);
  }
  if constexpr (std::is_same_v<Kind, Widths>) return node.is_array() || node.is_string();
  return node.is_string();
}

/// The value for a complaint: strings in quotes, the rest with its type.
std::string shown(const toml::node& node) {
  std::string text = trainer::quoted(text_of_node(node));
  if (node.is_string()) return text;
  if (node.is_table()) return "a table";
  if (node.is_array()) return "the array of " + text;
  if (node.is_boolean() || node.is_number()) return text;
  return "a date or time";
}

/// The parser's words on one line, whatever bytes of the file are among them.
std::string one_line(std::string text) {
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return text;
}

toml::table parse(const std::string& path) {
  const std::string contents = read_file(path);
  try {
    return toml::parse(std::string_view(contents), std::string_view(path));
  } catch (const toml::parse_error& error) {
    refuse(path, error.source(), "", "TOML",
           "something else: " + one_line(std::string(error.description())));
  }
}
}  // namespace

void read_config_file(const std::string& path, Config& config, std::set<std::string>& given) {
  toml::table table = parse(path);
  for_each_option(config,
                  [&](const std::string& option, auto& value, const auto& kind, auto, auto) {
                    const std::string key = option.substr(2);
                    const toml::node* const node = table.get(key);
                    if (node == nullptr) return;
                    if (!has_type(*node, kind) || !read_text(text_of_node(*node), value, kind)) {
                      refuse(path, node->source(), key, expected_of(kind), shown(*node));
                    }
                    given.insert(option);
                    table.erase(key);
                  });
  for (const auto& [key, node] : table) {
    refuse(path, key.source(), std::string(key.str()), "the name of an option (see --help)",
           "none of them");
  }
}
}  // namespace drey::trainer
