// output_file.cpp: temporary file, fsync, rename.
// SPDX-License-Identifier: MIT
#include "race/output_file.hpp"

#include "race/error.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drey::bench {
namespace {
/// What a newly made file would be readable by: 0666 without the umask.
mode_t mode_of_new_files() noexcept {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}
}  // namespace

OutputFile::OutputFile(const std::string& option, std::filesystem::path target)
    : option_(option), target_(std::move(target)) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw BadInput(option_ + " " + target_.string() + ": expected a regular file or a new name");
  }
  const std::filesystem::path name = "." + target_.filename().string() + ".XXXXXX";
  temporary_ = (target_.parent_path() / name).string();
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::commit(const std::string& contents) {
  for (std::size_t offset = 0; offset < contents.size();) {
    const ssize_t count = write(descriptor_, contents.data() + offset, contents.size() - offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    offset += static_cast<std::size_t>(count);
  }
  if (fchmod(descriptor_, mode_of_new_files()) != 0 || fsync(descriptor_) != 0) fail(errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int reason) const {
  throw BadInput(option_ + " " + target_.string() +
                 ": cannot be written: " + std::strerror(reason));
}
}  // namespace drey::bench
