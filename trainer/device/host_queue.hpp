// host_queue.hpp: a device queue on the CPU, for tests: kernels run phase by phase (kernel_body.hpp), and
// nothing happens before wait(). Who reads a result too soon, or changes what a copy still needs, gets
// wrong numbers here every time. Threads: one at a time. Read next: device_backend.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include <drey/base/units.hpp>

#include "trainer/device/queue.hpp"

namespace drey::trainer {
class HostQueue {
 public:
  using Recording = std::vector<std::function<void()>>;

  HostQueue() = default;
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;
  ~HostQueue() { DREY_CHECK(array_count_ == 0, "an array outlives its queue"); }

  [[nodiscard]] void* take(std::size_t bytes) {
    ++array_count_;
    return std::memset(::operator new (bytes, std::align_val_t{kCacheLineBytes}), 0, bytes);
  }
  [[nodiscard]] void* take_staging(std::size_t bytes) { return take(bytes); }
  void give(void* place) {
    if (place == nullptr) return;
    --array_count_;
    ::operator delete (place, std::align_val_t{kCacheLineBytes});
  }
  void give_staging(void* place) { give(place); }

  void to_device(void* place, const void* source, std::size_t bytes) {
    put([=] { std::memcpy(place, source, bytes); });
  }
  void to_host(void* place, const void* source, std::size_t bytes) {
    to_device(place, source, bytes);
  }

  template <class Kernel>
  void launch(const typename Kernel::Arguments& arguments) {
    put([arguments] { run_on_host<Kernel>(arguments, Kernel::blocks(arguments)); });
  }

  void wait() {
    ++wait_count_;
    for (const auto& work : waiting_) work();
    waiting_.clear();
  }

  void begin_recording() { is_recording_ = true; }
  void end_recording(Recording& recording) {
    is_recording_ = false;
    recording = std::move(recorded_);
    recorded_.clear();
  }
  void replay(const Recording& recording) {
    ++replay_count_;
    waiting_.insert(waiting_.end(), recording.begin(), recording.end());
  }

  [[nodiscard]] std::size_t array_count() const { return array_count_; }
  [[nodiscard]] std::size_t wait_count() const { return wait_count_; }
  [[nodiscard]] std::size_t replay_count() const { return replay_count_; }

 private:
  void put(std::function<void()> work) {
    (is_recording_ ? recorded_ : waiting_).push_back(std::move(work));
  }

  std::vector<std::function<void()>> waiting_;
  std::vector<std::function<void()>> recorded_;
  bool is_recording_ = false;
  std::size_t array_count_ = 0;
  std::size_t wait_count_ = 0;
  std::size_t replay_count_ = 0;
};
static_assert(DeviceQueue<HostQueue>);
}  // namespace drey::trainer
