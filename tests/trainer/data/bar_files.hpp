// bar_files.hpp: temporary files for the tests of the readers, and where real bars may lie.
// Invariant: a TemporaryFile is gone when its owner is.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace drey::trainer {
inline constexpr std::string_view kHeader = "timestamp,open,high,low,close,volume\n";

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, std::string_view name = "bars.csv")
      : folder_(testing::TempDir() + "/drey_" + std::to_string(getpid()) + "_" +
                std::to_string(next_number())),
        path_(folder_ + "/" + std::string(name)) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  static int next_number() {
    static int last = 0;
    return ++last;
  }

  std::string folder_;
  std::string path_;
};

/// `text` as gzip data.
inline std::string gzipped(std::string_view text) {
  TemporaryFile file("", "packing.gz");
  gzFile out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The file of that name among the real bars; empty when it is not on this machine.
inline std::string shared_file(const std::string& name) {
  const char* folder = std::getenv("DREY_SHARED_DATA");
  const std::string path = (folder != nullptr ? folder : DREY_SHARED_DATA_DEFAULT) + ("/" + name);
  return std::filesystem::exists(path) ? path : std::string();
}
}  // namespace drey::trainer
