// contents.hpp: device memory that is really there: physical memory is a file in memory, a mapping is a
// mapping of it at the device's own address, so that a test can write bytes, move pages and read them.
//
// Invariants: all addresses of the simulated devices are reserved from the kernel; those without memory
// cannot be touched. The same physical memory at two addresses shows the same bytes.
// Read next: memory.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::cuda::sim {
class Contents {
 public:
  Contents() = default;
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  /// Reserves addresses. Returns: the first one, aligned; 0 where there are not as many.
  DevicePointer reserve(std::uint64_t bytes, std::uint64_t alignment);
  [[nodiscard]] bool is_on() const { return base_ != nullptr; }

  /// Memory of the file, from its beginning, at the address; -1: memory of its own, zero.
  void map(DevicePointer address, std::size_t bytes, int file) const;
  void unmap(DevicePointer address, std::size_t bytes) const;

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A file in memory; takes none before it is written. -1 without one.
[[nodiscard]] int make_memory_file(std::size_t bytes);
/// A number that tells such files apart, and the size of this one; 0 if it is no file in memory.
[[nodiscard]] std::uint64_t identify_file(int file, std::size_t* bytes);
void close_file(int file);
[[nodiscard]] int duplicate_file(int file);
}  // namespace drey::cuda::sim
