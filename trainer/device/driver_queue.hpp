// driver_queue.hpp: a device queue through a driver table: a CUDA device's, or the simulated one's. Memory
// is the caching device allocator's, work goes into one stream, recordings are graphs.
// Who launches a kernel is a part of its own: module_launcher.hpp for the program's; a test's tells the
// simulator what each kernel reads and writes, so that its checker sees every missing wait.
// Invariants: staging memory is pinned; nothing of it is freed before the stream has come to rest.
// Read next: driver_session.hpp, device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <utility>

#include "trainer/device/driver_session.hpp"
#include "trainer/device/queue.hpp"

namespace drey::trainer {
/// launch<Kernel>(stream, blocks, arguments) puts a kernel into a stream.
template <class L>
concept KernelLauncher = requires(L launcher, cuda::Stream stream, std::uint32_t blocks,
                                  const NormKernel::Arguments& arguments) {
  { launcher.template launch<NormKernel>(stream, blocks, arguments) } -> std::same_as<cuda::Result>;
};

/// A graph that can be launched again and again. Movable.
class GraphRecording {
 public:
  GraphRecording() = default;
  GraphRecording(GraphRecording&& other) noexcept
      : session_(other.session_), graph_(std::exchange(other.graph_, nullptr)) {}
  GraphRecording& operator=(GraphRecording&& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~GraphRecording() {
    if (graph_ != nullptr) session_->destroy(graph_);
  }

 private:
  template <KernelLauncher L>
  friend class DriverQueue;
  DriverSession* session_ = nullptr;
  cuda::GraphExec graph_ = nullptr;
};

/// Threads: one at a time.
template <KernelLauncher L>
class DriverQueue {
 public:
  using Recording = GraphRecording;

  /// A device of this machine, or of DREY_CUDA_LIBRARY. Fails: DeviceError, in one line.
  explicit DriverQueue(int device) requires std::constructible_from<L, const DriverSession&>
      : session_(device), launcher_(session_) {}
  /// Requires: `driver` outlives it.
  DriverQueue(const cuda::DriverTable& driver, L launcher)
      : session_(driver), launcher_(std::move(launcher)) {}

  [[nodiscard]] void* take(std::size_t bytes) { return session_.take(bytes); }
  [[nodiscard]] void* take_staging(std::size_t bytes) { return session_.take_staging(bytes); }
  void give(void* place) { session_.give(place); }
  void give_staging(void* place) { session_.give_staging(place); }
  void to_device(void* place, const void* source, std::size_t bytes) {
    session_.copy(place, source, bytes);
  }
  void to_host(void* place, const void* source, std::size_t bytes) {
    session_.copy(place, source, bytes);
  }
  template <class Kernel>
  void launch(const typename Kernel::Arguments& arguments) {
    session_.check("cuLaunchKernel", launcher_.template launch<Kernel>(
                                         session_.stream(), Kernel::blocks(arguments), arguments));
  }
  void wait() { session_.wait(); }
  void begin_recording() { session_.begin_capture(); }
  void end_recording(Recording& recording) {
    Recording fresh;
    fresh.session_ = &session_;
    fresh.graph_ = session_.end_capture();
    recording = std::move(fresh);
  }
  void replay(const Recording& recording) { session_.launch(recording.graph_); }

  [[nodiscard]] DriverSession& session() { return session_; }

 private:
  DriverSession session_;
  L launcher_;
};
}  // namespace drey::trainer
