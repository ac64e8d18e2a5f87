// queue.hpp: what a device backend asks of a device, as a concept: memory, copies and kernels that run in
// the order in which they were put in, some time before wait() returns; and whole series of them that
// are recorded once and put in again by one call.
// host_queue.hpp answers it on the CPU; driver_queue.hpp on a CUDA device or the simulated one.
// Invariants: memory begins as zeros; what copies read and write of the host stays until wait().
// Read next: host_queue.hpp, device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "trainer/device/update_kernels.hpp"

namespace drey::trainer {
template <class Q>
concept DeviceQueue = std::default_initializable<typename Q::Recording> &&
    requires(Q queue, void* place, const void* source, std::size_t bytes,
             typename Q::Recording& recording, const NormKernel::Arguments& arguments) {
  { queue.take(bytes) } -> std::same_as<void*>;          // of the device
  { queue.take_staging(bytes) } -> std::same_as<void*>;  // of the host, for copies
  { queue.give(place) } -> std::same_as<void>;           // after wait(); null does nothing
  { queue.give_staging(place) } -> std::same_as<void>;
  { queue.to_device(place, source, bytes) } -> std::same_as<void>;
  { queue.to_host(place, source, bytes) } -> std::same_as<void>;
  { queue.template launch<NormKernel>(arguments) } -> std::same_as<void>;
  { queue.wait() } -> std::same_as<void>;
  { queue.begin_recording() } -> std::same_as<void>;
  { queue.end_recording(recording) } -> std::same_as<void>;  // in place of what it held
  { queue.replay(recording) } -> std::same_as<void>;
};

/// `count` values in one of a queue's two kinds of memory. Movable. Requires: the queue outlives it.
template <class Value, class Q, bool kIsStaging>
class QueueArray {
 public:
  QueueArray() = default;
  QueueArray(Q& queue, std::size_t count)
      : queue_(&queue),
        count_(count),
        values_(static_cast<Value*>(kIsStaging ? queue.take_staging(count * sizeof(Value))
                                               : queue.take(count * sizeof(Value)))) {}
  QueueArray(QueueArray&& other) noexcept
      : queue_(other.queue_), count_(other.count_), values_(other.values_) {
    other.values_ = nullptr;
  }
  QueueArray& operator=(QueueArray&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(count_, other.count_);
    std::swap(values_, other.values_);
    return *this;
  }
  ~QueueArray() {
    if (values_ == nullptr) return;
    if constexpr (kIsStaging) {
      queue_->give_staging(values_);
    } else {
      queue_->give(values_);
    }
  }

  [[nodiscard]] Value* data() const { return values_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(Value); }

 private:
  Q* queue_ = nullptr;
  std::size_t count_ = 0;
  Value* values_ = nullptr;
};
template <class Value, class Q>
using DeviceArray = QueueArray<Value, Q, false>;
template <class Value, class Q>
using StagingArray = QueueArray<Value, Q, true>;
}  // namespace drey::trainer
