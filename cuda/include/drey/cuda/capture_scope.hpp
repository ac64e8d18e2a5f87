// capture_scope.hpp: a stream's capture, with memory of a pool, from begin() to end().
//
//   CaptureScope scope(allocator, driver);
//   scope.begin(stream, CaptureMode::kThreadLocal, pool);
//   ... work, allocations, frees ...
//   scope.end(&graph);            // the graph has a use of the pool: release_pool() when it is gone
//
// Invariants: a scope that ends without end(), by an exception or a return, ends the driver's capture and leaves
// nothing behind: no graph, no use of the pool, no capture. So does end() when the capture was broken.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/device_allocator.hpp>

namespace drey::cuda {
/// Threads: one; the one that began a capture ends it, as the driver wants. Needs the device's context current.
class CaptureScope {
 public:
  CaptureScope(DeviceAllocator& allocator, const DriverTable& driver) noexcept
      : allocator_(allocator), driver_(driver) {}
  ~CaptureScope() { abort(); }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  /// Fails: as DeviceAllocator::begin_capture(), and kDriver; the stream does not capture then.
  [[nodiscard]] Outcome begin(Stream stream, CaptureMode mode, PoolId pool) noexcept {
    if (is_begun_) return {Status::kInvalidPool};
    const Outcome begun = allocator_.begin_capture(pool, &capture_);
    if (!begun.is_ok()) return begun;
    is_begun_ = true;
    const Result result = driver_.stream_begin_capture(stream, mode);
    is_capturing_ = result == Result::kSuccess;
    stream_ = stream;
    const Outcome bound = is_capturing_ ? allocator_.bind_capture(capture_, stream)
                                        : Outcome{Status::kDriver, result};
    if (!bound.is_ok()) abort();
    return bound;
  }

  /// The graph, with a use of the pool. Fails: kDriver, and then there is neither.
  [[nodiscard]] Outcome end(Graph* graph) noexcept {
    *graph = nullptr;
    if (!is_begun_) return {Status::kInvalidPool};
    is_capturing_ = false;
    const Result result = finish(graph);
    const bool is_kept = result == Result::kSuccess && *graph != nullptr;
    is_begun_ = false;
    const Outcome ended = allocator_.end_capture(capture_, is_kept);
    return is_kept ? ended : Outcome{Status::kDriver, result};
  }

  /// Gives the capture up. Nothing happens if there is none.
  void abort() noexcept {
    Graph graph = nullptr;
    if (is_capturing_ && finish(&graph) == Result::kSuccess && graph != nullptr)
      static_cast<void>(driver_.graph_destroy(graph));
    is_capturing_ = false;
    if (is_begun_) static_cast<void>(allocator_.end_capture(capture_, false));
    is_begun_ = false;
  }

 private:
  // A capture that would not end is ended again, so that the stream can be used.
  Result finish(Graph* graph) noexcept {
    const Result result = driver_.stream_end_capture(stream_, graph);
    CaptureStatus status = CaptureStatus::kNone;
    if (result == Result::kSuccess ||
        driver_.stream_is_capturing(stream_, &status) != Result::kSuccess ||
        status == CaptureStatus::kNone)
      return result;
    Graph late = nullptr;
    if (driver_.stream_end_capture(stream_, &late) == Result::kSuccess && late != nullptr)
      static_cast<void>(driver_.graph_destroy(late));
    return result;
  }

  DeviceAllocator& allocator_;
  const DriverTable& driver_;
  Stream stream_ = nullptr;
  CaptureId capture_;
  bool is_begun_ = false;
  bool is_capturing_ = false;
};

/// begin_pool() until the end of the scope.
class PoolScope {
 public:
  PoolScope(DeviceAllocator& allocator, PoolId pool) noexcept
      : allocator_(allocator), pool_(pool), outcome_(allocator.begin_pool(pool)) {}
  ~PoolScope() {
    if (outcome_.is_ok()) static_cast<void>(allocator_.end_pool(pool_));
  }
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;
  /// Whether it began.
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 private:
  DeviceAllocator& allocator_;
  PoolId pool_;
  Outcome outcome_;
};
}  // namespace drey::cuda
