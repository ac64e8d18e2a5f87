// config_file.hpp: options in a TOML file, keys as the options are called without "--".
//   env = "trading"
//   hidden = [128, 64]
//   lr = 0.0001
// Read next: config.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "trainer/program/config.hpp"

namespace drey::trainer {
/// Reads options into `config` and adds their names, as "--lr", to `given`. A program built without
/// toml++ has no such files.
/// Fails: SystemError when the file cannot be read; ConfigError naming file, line, key, expected
/// and found, for what is no TOML, unknown keys, wrong types, and values out of their limits.
void read_config_file(const std::string& path, Config& config, std::set<std::string>& given);

/// A file that read_config_file() reads back as `config`, with the meaning of every key. Options
/// that are not set are there as comments.
[[nodiscard]] std::string config_file_text(const Config& config);
}  // namespace drey::trainer
