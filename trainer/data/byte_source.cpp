// byte_source.cpp: see byte_source.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
class PlainFile final : public ByteSource {
 public:
  explicit PlainFile(std::string path)
      : path_(std::move(path)), number_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) fail();
  }
  ~PlainFile() override { ::close(number_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  [[nodiscard]] std::size_t read(std::span<char> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::read(number_, bytes.data() + done, bytes.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  [[noreturn]] void fail() const {
    throw_data_error({path_}, "a readable file", std::generic_category().message(errno));
  }

  std::string path_;
  int number_;
};
}  // namespace

void require_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw_data_error({path}, "a file", "none of that name");
    return;  // opening it will tell
  }
  if (S_ISDIR(status.st_mode)) throw_data_error({path}, "a file", "a directory");
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  require_file(path);
  return std::make_unique<PlainFile>(path);
}

std::string first_bytes(const std::string& path, std::size_t count_max) {
  require_file(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return {};
  std::string bytes(count_max, '\0');
  bytes.resize(open_bytes(path)->read(bytes));
  return bytes;
}
}  // namespace drey::trainer
