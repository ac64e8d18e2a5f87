// event_file.cpp: see event_file.hpp. The numbers of fields are those of event.proto and
// summary.proto.
// SPDX-License-Identifier: MIT
#include "trainer/files/event_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "trainer/data/error.hpp"
#include "trainer/files/crc32c.hpp"
#include "trainer/files/protobuf_writer.hpp"

namespace drey::trainer {
namespace {
[[noreturn]] void fail(const std::string& path, const char* action) {
  throw SystemError(path + ": cannot " + action + ": " + std::strerror(errno));
}

double wall_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

void put_little_endian(std::string& bytes, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

void make_folder(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1); end != std::string::npos;
       end = folder.find('/', end + 1))
    ::mkdir(folder.substr(0, end).c_str(), 0777);  // what is missing shows below
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) fail(folder, "make the folder");
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) fail(folder, "look at the folder");
  if (!S_ISDIR(status.st_mode)) throw SystemError(folder + ": expected a folder, found a file");
}
}  // namespace

std::string event_record(std::string_view bytes) {
  std::string record;
  put_little_endian(record, bytes.size(), 8);
  put_little_endian(record, masked_crc32c(record), 4);
  record.append(bytes);
  put_little_endian(record, masked_crc32c(bytes), 4);
  return record;
}

EventFile::EventFile(const std::string& folder) {
  make_folder(folder);
  const double now = wall_seconds();
  // TensorBoard reads the files of a folder in the order of their names: by the second they began.
  const std::string stem = folder + "/events.out.tfevents." +
                           std::to_string(static_cast<std::int64_t>(now)) + "." +
                           std::to_string(::getpid());
  for (int number = 0; descriptor_ < 0; ++number) {
    path_ = stem + "." + std::to_string(number) + ".drey";
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) fail(path_, "create");
  }
  ProtobufWriter event;
  event.add_double(1, now);
  event.add_text(3, "brain.Event:2");
  append(event_record(event.bytes()));
}

EventFile::~EventFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

EventFile& EventFile::operator=(EventFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void EventFile::add(std::uint64_t step, std::span<const Scalar> scalars) {
  ProtobufWriter summary;
  for (const Scalar& scalar : scalars) {
    ProtobufWriter value;
    value.add_text(1, scalar.tag);
    value.add_float(2, static_cast<float>(scalar.value));
    summary.add_message(1, value);
  }
  ProtobufWriter event;
  event.add_double(1, wall_seconds());
  event.add_integer(2, static_cast<std::int64_t>(step));
  event.add_message(5, summary);
  append(event_record(event.bytes()));
}

void EventFile::append(const std::string& record) {
  std::string_view rest = record;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "write");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}
}  // namespace drey::trainer
