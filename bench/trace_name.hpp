// trace_name.hpp: the name of a trace that is about to be recorded, made free for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/trace_format.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace drey::bench {
/// The recorder writes over nothing; whoever names the file again means the old trace to go.
/// Removes it where it is a trace or empty. Returns: the absolute path; or, in `error`, why not.
inline std::filesystem::path make_trace_name(const std::string& name, std::string& error) {
  std::error_code failure;
  auto path = std::filesystem::absolute(name, failure);
  const auto status = std::filesystem::symlink_status(path, failure);
  if (!std::filesystem::exists(status)) return path;
  char magic[sizeof trace::kTraceMagic] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  const bool is_regular = std::filesystem::is_regular_file(status);
  const bool is_trace = is_regular && std::memcmp(magic, trace::kTraceMagic, sizeof magic) == 0;
  const bool is_empty = is_regular && std::filesystem::is_empty(path, failure);
  if (!is_trace && !is_empty) {
    error = "--trace " + name + ": expected a new name or an old trace, found another file";
  } else if (!std::filesystem::remove(path, failure)) {
    error = "--trace " + name + ": cannot be replaced: " + failure.message();
  }
  return path;
}
}  // namespace drey::bench
