// config_file_without_toml.cpp: config_file.hpp where toml++ was not there to build with.
// SPDX-License-Identifier: MIT
#include "trainer/data/error.hpp"
#include "trainer/program/config_file.hpp"

namespace drey::trainer {
void read_config_file(const std::string& path, Config& /*config*/,
                      std::set<std::string>& /*given*/) {
  throw ConfigError("option --config: expected a program built with toml++, found one without: " +
                    path + " is not read");
}
}  // namespace drey::trainer
