// output_file.cpp: see output_file.hpp.
// Source of the order of the calls: open(2), fsync(2), rename(2).
// SPDX-License-Identifier: MIT
#include "trainer/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
[[noreturn]] void fail(const std::string& path, const char* action, int error) {
  throw SystemError(path + ": cannot " + action + ": " + std::strerror(error));
}

/// An open file. Closed at the latest by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Removes the partial file unless it was renamed away.
class Partial {
 public:
  explicit Partial(std::string path) : path_(std::move(path)) {}
  ~Partial() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;

  [[nodiscard]] const char* path() const { return path_.c_str(); }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

/// Where the file really is: renaming over a symbolic link would replace the link.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Devices and pipes have no contents to replace.
bool is_stream(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if (S_ISDIR(status.st_mode)) throw SystemError(path + ": expected a file, found a directory");
  return !S_ISREG(status.st_mode);
}

void write_all(const Descriptor& file, std::string_view contents, const std::string& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file.number(), contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "write", errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

int open_partial(const Partial& partial) {
  return ::open(partial.path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}
}  // namespace

void check_writable(const std::string& path) {
  if (is_stream(path)) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open() && errno != ENXIO) fail(path, "open for writing", errno);
    return;
  }
  const Partial partial(resolved(path) + ".partial");
  const Descriptor file(open_partial(partial));
  if (!file.is_open()) fail(path, "create", errno);
}

void write_file(const std::string& path, std::string_view contents) {
  write_file(path, std::initializer_list<std::string_view>{contents});
}

void write_file(const std::string& path, std::initializer_list<std::string_view> pieces) {
  if (is_stream(path)) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) fail(path, "open for writing", errno);
    for (const std::string_view piece : pieces) write_all(file, piece, path);
    return;
  }
  const std::string real = resolved(path);
  Partial partial(real + ".partial");
  {
    const Descriptor file(open_partial(partial));
    if (!file.is_open()) fail(path, "create", errno);
    for (const std::string_view piece : pieces) write_all(file, piece, path);
    if (::fsync(file.number()) != 0) fail(path, "sync", errno);
  }
  if (::rename(partial.path(), real.c_str()) != 0) fail(path, "rename to", errno);
  partial.keep();
  const Descriptor folder(::open(folder_of(real).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) ::fsync(folder.number());
}

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail(path, "open", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail(path, "read", errno);
  if (!S_ISREG(status.st_mode)) throw SystemError(path + ": expected a regular file");
  std::string contents(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < contents.size()) {
    const ssize_t got = ::read(file.number(), contents.data() + done, contents.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;  // cut while it was read: the format's own checks will tell
    done += static_cast<std::size_t>(got);
  }
  contents.resize(done);
  return contents;
}
}  // namespace drey::trainer
