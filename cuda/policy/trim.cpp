// trim.cpp: the part of allocator_state.hpp that gives memory back without being asked for any: trim, limits,
// sleep and wake.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"
#include "policy/coarse_clock.hpp"

#include <algorithm>

namespace drey::cuda {
// Events are recorded and asked, nothing is waited for: what work may still use stays.
Outcome AllocatorState::trim(std::uint64_t bytes, std::uint32_t age_ms, bool is_by_age,
                             std::uint64_t* released) noexcept {
  const MutexHolder holder(lock);
  if (released != nullptr) *released = 0;
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  if (is_asleep_) return {};
  // Nothing goes to the driver while a graph is captured.
  if (captures.count() != 0) return {Status::kCaptureForbids};
  DriverScope scope(*driver_, context_, captures.count() != 0);
  if (!is_by_age) flush_all();
  is_epoch_due_ = false;  // learn() closes them all
  Result result = learn(scope);
  if (result != Result::kSuccess) return {Status::kDriver, result};
  const std::uint32_t now = coarse_ms();
  const std::uint32_t before = !is_by_age ? kNoMax : now > age_ms ? now - age_ms : 0;
  const std::uint64_t pages = give_pages_back(bytes / store.page_bytes(), before, &result);
  note_sizes();
  if (released != nullptr) *released = pages * store.page_bytes();
  return result == Result::kSuccess ? Outcome{} : Outcome{Status::kDriver, result};
}

Outcome AllocatorState::set_limits(const Limits& limits) noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok()) return usable;
  const bool makes_sense = limits.hard == 0 || limits.soft <= limits.hard;
  if (!makes_sense) return {Status::kInvalidConfig};
  config.limits = limits;
  const std::uint64_t hard =
      limits.hard != 0 ? std::min(limits.hard, device_bytes_) : device_bytes_;
  store.set_limit_pages(hard / store.page_bytes());
  return {};
}

Outcome AllocatorState::add_callback(OomCallback callback, void* context) noexcept {
  const MutexHolder holder(lock);
  if (callback == nullptr || callback_count_ == DeviceAllocator::kOomCallbacksMax)
    return {Status::kInvalidConfig};
  callbacks_[callback_count_++] = {callback, context};
  return {};
}

// Idle pages go first, so that wake() need not find memory for them.
Outcome AllocatorState::sleep() noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok() || is_asleep_) return usable;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  flush_all();
  is_epoch_due_ = false;
  Result result = scope.need();
  if (result == Result::kSuccess) result = timelines.complete_all();
  if (result == Result::kCaptureUnsupported) return {Status::kCaptureForbids, result};
  if (result == Result::kSuccess) {
    drain_pools(scope);
    heap.settle();
    give_pages_back(0, kNoMax, &result);
  }
  if (result == Result::kSuccess) result = store.sleep();
  note_sizes();
  if (result != Result::kSuccess) return {Status::kDriver, result};
  is_asleep_ = true;
  tell({EventKind::kSleep, LadderStep::kMagazine, config.device, nullptr, 0, 0, nullptr});
  return {};
}

Outcome AllocatorState::wake() noexcept {
  const MutexHolder holder(lock);
  const Outcome usable = check_usable();
  if (!usable.is_ok() || !is_asleep_) return usable;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  Result result = scope.need();
  if (result == Result::kSuccess) result = store.wake();
  note_sizes();
  if (result == Result::kOutOfMemory) return {Status::kOutOfMemory, result};
  if (result != Result::kSuccess) return {Status::kDriver, result};
  is_asleep_ = false;
  tell({EventKind::kWake, LadderStep::kMagazine, config.device, nullptr, 0, 0, nullptr});
  return {};
}
}  // namespace drey::cuda
