// verb_arguments.hpp: the command line of a verb: options with one value each, and names.
// Read next: bar_verbs.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
struct VerbOption {
  std::string_view name;  ///< "--rows"
  std::string* value;     ///< left as it is where the option is not given
};

/// Reads `words`, the arguments after the verb; options stand anywhere, `--` ends them.
/// Returns: the names, `name_count` of them.
/// Fails: ConfigError for an unknown option, one given twice or without a value, and another number
/// of names; `usage` is what the line then says was expected.
[[nodiscard]] std::vector<std::string> read_verb_arguments(std::span<const char* const> words,
                                                           std::span<const VerbOption> options,
                                                           std::size_t name_count,
                                                           std::string_view usage);

/// Fails: ConfigError when `text` is no whole number from `low` to `high`.
[[nodiscard]] std::uint64_t read_whole_number(std::string_view option, std::string_view text,
                                              std::uint64_t low, std::uint64_t high);
}  // namespace drey::trainer
