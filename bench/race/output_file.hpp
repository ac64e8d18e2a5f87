// output_file.hpp: a report that is there whole or not at all.
//
// The name is tried when the race starts, not when it has run for minutes: a temporary file is made
// beside the target. commit() writes, syncs and renames it; without commit() it is removed.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace drey::bench {
class OutputFile {
 public:
  /// Fails: BadInput naming `option`, the path and the system's reason.
  OutputFile(const std::string& option, std::filesystem::path target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Fails: BadInput; the target is untouched then.
  void commit(const std::string& contents);

 private:
  [[noreturn]] void fail(int reason) const;

  std::string option_;
  std::filesystem::path target_;
  std::string temporary_;
  int descriptor_ = -1;
};
}  // namespace drey::bench
