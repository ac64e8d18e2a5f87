// contents.cpp: see contents.hpp.
// SPDX-License-Identifier: MIT
#include "sim/contents.hpp"

#include <drey/base/assert.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drey::cuda::sim {
namespace {
void* pointer_of(DevicePointer address) {
  return reinterpret_cast<void*>(address);  // reserved by this process
}
}  // namespace

Contents::~Contents() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

DevicePointer Contents::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  bytes_ = bytes + alignment;
  base_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    return 0;
  }
  const auto first = reinterpret_cast<DevicePointer>(base_);
  return (first + alignment - 1) / alignment * alignment;
}

void Contents::map(DevicePointer address, std::size_t bytes, int file) const {
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* const mapped =
      ::mmap(pointer_of(address), bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0);
  DREY_CHECK(mapped == pointer_of(address), "no memory for the contents of a simulated device");
}

void Contents::unmap(DevicePointer address, std::size_t bytes) const {
  void* const mapped = ::mmap(pointer_of(address), bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  DREY_CHECK(mapped == pointer_of(address), "addresses of a simulated device are lost");
}

int make_memory_file(std::size_t bytes) {
  const int file = ::memfd_create("drey-simulated-memory", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (::ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  return -1;
}

std::uint64_t identify_file(int file, std::size_t* bytes) {
  struct stat status = {};
  // Seals are what only a file in memory has.
  if (::fcntl(file, F_GET_SEALS) < 0 || ::fstat(file, &status) != 0) return 0;
  *bytes = static_cast<std::size_t>(status.st_size);
  return status.st_ino;
}

void close_file(int file) {
  if (file >= 0) ::close(file);
}

int duplicate_file(int file) {
  return ::fcntl(file, F_DUPFD_CLOEXEC, 0);
}
}  // namespace drey::cuda::sim
