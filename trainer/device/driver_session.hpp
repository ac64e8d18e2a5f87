// driver_session.hpp: one device as the trainer uses it: a stream, the caching allocator on it, pinned
// memory, graphs. The part of driver_queue.hpp that does not depend on who launches kernels.
// Invariants: destroyed, it leaves nothing behind; every driver call that fails is a DeviceError naming
// the call. Threads: one at a time. Read next: driver_session.cpp, driver_queue.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/driver_table.hpp>

#include <cstddef>
#include <memory>
#include <string>

#include "trainer/data/error.hpp"

namespace drey::trainer {
/// No device, or a call of its driver failed. Message: which, and what the driver says.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Starts the driver, but nothing on a device: to complain before anything else takes time.
/// Fails: DeviceError where there is no driver or no device of that number.
void require_device(int device);

class DriverSession {
 public:
  /// Device number `device` of this machine's driver, or of the library that DREY_CUDA_LIBRARY names.
  /// Fails: DeviceError where there is no driver or no such device.
  explicit DriverSession(int device = 0);
  explicit DriverSession(const cuda::DriverTable& driver, int device = 0);
  DriverSession(const DriverSession&) = delete;
  DriverSession& operator=(const DriverSession&) = delete;
  ~DriverSession();

  /// Device memory of zeros, from the allocator. Fails: DeviceError with the allocator's report.
  [[nodiscard]] void* take(std::size_t bytes);
  void give(void* place) noexcept;
  [[nodiscard]] void* take_staging(std::size_t bytes);
  void give_staging(void* place) noexcept;

  /// Between any two kinds of memory: addresses say which.
  void copy(void* place, const void* source, std::size_t bytes);
  void wait();

  void begin_capture();
  [[nodiscard]] cuda::GraphExec end_capture();
  void launch(cuda::GraphExec graph);
  void destroy(cuda::GraphExec graph) noexcept;

  /// Fails: DeviceError unless the result is success.
  void check(const char* call, cuda::Result result) const;
  [[nodiscard]] cuda::Stream stream() const { return stream_; }
  [[nodiscard]] cuda::DeviceAllocator& allocator() { return allocator_; }
  [[nodiscard]] const cuda::DriverTable& driver() const { return *driver_; }
  /// With what every message begins: the option that asked for the device.
  [[nodiscard]] std::string option() const;

 private:
  void start();
  void open();
  void stop() noexcept;

  std::unique_ptr<cuda::LoadedDriver> loaded_;  ///< null where a table was given
  const cuda::DriverTable* driver_;
  int number_;
  cuda::Device device_ = 0;
  cuda::DeviceAllocator allocator_;
  bool holds_context_ = false;
  cuda::Stream stream_ = nullptr;
};
}  // namespace drey::trainer
