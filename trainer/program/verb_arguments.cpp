// verb_arguments.cpp: see verb_arguments.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/verb_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
std::vector<std::string> read_verb_arguments(std::span<const char* const> words,
                                             std::span<const VerbOption> options,
                                             std::size_t name_count, std::string_view usage) {
  std::vector<std::string> names;
  std::set<std::string_view> given;
  bool options_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (options_end || !word.starts_with('-') || word == "-") {
      names.emplace_back(word);
      continue;
    }
    options_end = word == "--";
    if (options_end) continue;
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const VerbOption& one) { return one.name == word; });
    const std::string expected = ": expected " + std::string(usage);
    if (option == options.end()) throw ConfigError("unknown option " + quoted(word) + expected);
    if (!given.insert(word).second)
      throw ConfigError("option " + std::string(word) + ": expected once, found twice");
    if (i + 1 == words.size() || *words[i + 1] == '\0')
      throw ConfigError("option " + std::string(word) + ": expected a value, found none");
    *option->value = words[++i];
  }
  const bool is_empty =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
  if (names.size() != name_count || is_empty)
    throw ConfigError("command line: expected " + std::string(usage) + ", found " +
                      (names.empty() ? "no names" : "the names " + listed(names)));
  return names;
}

std::uint64_t read_whole_number(std::string_view option, std::string_view text, std::uint64_t low,
                                std::uint64_t high) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const bool is_whole = !text.empty() && result.ec == std::errc{} && result.ptr == end;
  if (!is_whole || number < low || number > high)
    throw ConfigError("option " + std::string(option) + ": expected a whole number from " +
                      std::to_string(low) + " to " + std::to_string(high) + ", found " +
                      quoted(text));
  return number;
}
}  // namespace drey::trainer
