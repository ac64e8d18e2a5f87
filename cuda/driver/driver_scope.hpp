// driver_scope.hpp: the device's context on a thread, for as long as driver calls need it.
// Invariant: the thread's context and its mode of capturing are as before at the end of the scope.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>

namespace drey::cuda {
/// The allocator's context on top of the thread's, from the first need() to the end of the scope. While there
/// are captures, also the mode in which the thread's calls do not break them.
class DriverScope {
 public:
  DriverScope(const DriverTable& driver, Context context, bool is_during_capture = false) noexcept
      : driver_(driver), context_(context), is_during_capture_(is_during_capture) {}
  ~DriverScope() {
    Context popped = nullptr;
    if (is_relaxed_) static_cast<void>(driver_.thread_exchange_stream_capture_mode(&mode_));
    if (is_pushed_) static_cast<void>(driver_.ctx_pop_current(&popped));
  }
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;
  /// Fails: as cuCtxPushCurrent and cuThreadExchangeStreamCaptureMode.
  Result need() noexcept {
    Result result = Result::kSuccess;
    if (!is_pushed_) result = driver_.ctx_push_current(context_);
    is_pushed_ = is_pushed_ || result == Result::kSuccess;
    if (result != Result::kSuccess || !is_during_capture_ || is_relaxed_) return result;
    result = driver_.thread_exchange_stream_capture_mode(&mode_);
    is_relaxed_ = result == Result::kSuccess;
    return result;
  }

 private:
  const DriverTable& driver_;
  Context context_;
  bool is_during_capture_;
  bool is_pushed_ = false;
  bool is_relaxed_ = false;
  CaptureMode mode_ = CaptureMode::kRelaxed;  // then the thread's own
};
}  // namespace drey::cuda
