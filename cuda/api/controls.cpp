// controls.cpp: the rest of device_allocator.hpp: each call is AllocatorState's, if there is one.
// SPDX-License-Identifier: MIT
#include <drey/cuda/device_allocator.hpp>

#include "policy/allocator_state.hpp"

namespace drey::cuda {
static_assert(DeviceAllocator::kPoolsMax + 1 == CentralHeap::kPoolsMax);
static_assert(DeviceAllocator::kCapturesMax == Captures::kCapturesMax);
static_assert(DeviceAllocator::kPoolScopesMax == ThreadCache::kScopesMax);

Outcome DeviceAllocator::record_stream(void* pointer, Stream stream) noexcept {
  return is_open() ? state_->record(pointer, stream, false) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::record_use(void* pointer, Stream stream) noexcept {
  return is_open() ? state_->record(pointer, stream, true) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::mark(Stream waited, StreamMark* mark) noexcept {
  return is_open() ? state_->mark(waited, mark) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::note_wait(Stream waiter, StreamMark mark) noexcept {
  return is_open() ? state_->note_wait(waiter, mark) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::stream_retired(Stream stream) noexcept {
  return is_open() ? state_->retire(stream) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::create_pool(PoolId* pool, bool is_for_oom) noexcept {
  return is_open() ? state_->create_pool(is_for_oom, pool) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::retain_pool(PoolId pool) noexcept {
  return is_open() ? state_->retain_pool(pool) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::release_pool(PoolId pool) noexcept {
  return is_open() ? state_->release_pool(pool, nullptr) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::release_pool(PoolId pool, Stream after) noexcept {
  return is_open() ? state_->release_pool(pool, &after) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::begin_pool(PoolId pool) noexcept {
  return is_open() ? state_->begin_pool(pool) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::end_pool(PoolId pool) noexcept {
  return is_open() ? state_->end_pool(pool) : Outcome{Status::kClosed};
}
Allocation DeviceAllocator::try_allocate_in(PoolId pool, std::size_t bytes, std::size_t alignment,
                                            Stream stream, OomReport* report) noexcept {
  if (!is_open()) return {nullptr, {Status::kClosed}};
  if (pool.value == 0) return {nullptr, {Status::kInvalidPool}};
  return state_->allocate(bytes, alignment, stream, report, pool);
}
Outcome DeviceAllocator::begin_capture(PoolId pool, CaptureId* capture) noexcept {
  return is_open() ? state_->begin_capture(pool, capture) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::bind_capture(CaptureId capture, Stream stream) noexcept {
  return is_open() ? state_->bind_capture(capture, stream) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::end_capture(CaptureId capture, bool is_kept) noexcept {
  return is_open() ? state_->end_capture(capture, is_kept) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::trim_to(std::uint64_t bytes, std::uint64_t* released) noexcept {
  return is_open() ? state_->trim(bytes, 0, false, released) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::trim_older_than(std::uint64_t milliseconds,
                                         std::uint64_t* released) noexcept {
  const auto age =
      milliseconds < UINT32_MAX ? static_cast<std::uint32_t>(milliseconds) : UINT32_MAX;
  return is_open() ? state_->trim(0, age, true, released) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::set_limits(const Limits& limits) noexcept {
  return is_open() ? state_->set_limits(limits) : Outcome{Status::kClosed};
}
Limits DeviceAllocator::limits() const noexcept {
  if (!is_open()) return {};
  const MutexHolder holder(state_->lock);
  return state_->config.limits;
}
Outcome DeviceAllocator::on_oom(OomCallback callback, void* context) noexcept {
  return is_open() ? state_->add_callback(callback, context) : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::sleep() noexcept {
  return is_open() ? state_->sleep() : Outcome{Status::kClosed};
}
Outcome DeviceAllocator::wake() noexcept {
  return is_open() ? state_->wake() : Outcome{Status::kClosed};
}
Statistics DeviceAllocator::statistics() const noexcept {
  return is_open() ? state_->statistics() : Statistics{};
}
MemorySplit DeviceAllocator::memory_split() const noexcept {
  if (!is_open()) return {};
  const MutexHolder holder(state_->lock);
  std::uint64_t pending = 0;
  std::uint64_t largest = 0;
  return state_->check_usable().is_ok() ? state_->split(&pending, &largest) : MemorySplit{};
}
void DeviceAllocator::reset_peaks() noexcept {
  if (is_open()) state_->reset_peaks();
}
void DeviceAllocator::visit_blocks(void (*visit)(void* context, const BlockView& block) noexcept,
                                   void* context) const noexcept {
  if (is_open()) state_->visit(visit, context);
}
void DeviceAllocator::set_observer(const Observer* observer) noexcept {
  // Release: what the observer is comes before; pairs with tell().
  if (is_open()) state_->observer.store(observer, std::memory_order_release);
}
Outcome DeviceAllocator::base_of(const void* pointer, void** base,
                                 std::size_t* bytes) const noexcept {
  if (!is_open()) return {Status::kClosed};
  return state_->base_of(pointer, base, bytes);
}
Device DeviceAllocator::device() const noexcept {
  return is_open() ? state_->config.device : -1;
}
bool DeviceAllocator::invariants_hold() const noexcept {
  return !is_open() || state_->invariants_hold();
}
}  // namespace drey::cuda
