// mirror.hpp: a block of values that the host and a device both know, and which of the two is newer.
// Invariants: at most one is newer; whoever reads gets the newer one.
// Read next: device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>

#include "trainer/device/queue.hpp"
#include "trainer/numeric/aligned_array.hpp"

namespace drey::trainer {
/// The device's half; the host's is handed in, since it may be part of something else.
/// Threads: one at a time.
template <class Q>
class Mirror {
 public:
  Mirror(Q& queue, std::size_t size) : device_(queue, size) {}

  /// The host's half is as new as the device's from here on. Waits if a copy must be made.
  void show(Q& queue, AlignedArray<float>& host) {
    DREY_ASSERT(host.size() == device_.size());
    if (!device_is_newer_) return;
    queue.to_host(host.data(), device_.data(), device_.bytes());
    queue.wait();
    device_is_newer_ = false;
  }
  /// As show(), and the caller will change it before the next use on the device. Waits: what was sent
  /// before may still be read.
  void let_change(Q& queue, AlignedArray<float>& host) {
    show(queue, host);
    queue.wait();
    host_is_newer_ = true;
  }

  /// Brings the device up to date. Call before work is put in that reads or changes device().
  void send(Q& queue, const AlignedArray<float>& host) {
    if (host_is_newer_) queue.to_device(device_.data(), host.data(), device_.bytes());
    host_is_newer_ = false;
  }
  /// Work that changes device() was put in.
  void device_changes() {
    DREY_ASSERT(!host_is_newer_);
    device_is_newer_ = true;
  }
  [[nodiscard]] float* device() const { return device_.data(); }
  [[nodiscard]] std::size_t size() const { return device_.size(); }

 private:
  DeviceArray<float, Q> device_;
  bool host_is_newer_ = true;
  bool device_is_newer_ = false;
};
}  // namespace drey::trainer
