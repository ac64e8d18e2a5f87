// open_close.cpp: the part of allocator_state.hpp that begins and ends an allocator, and what is left of it in
// a forked child.
// SPDX-License-Identifier: MIT
#include "magazines/cache_registry.hpp"
#include "policy/allocator_state.hpp"

#include <algorithm>

namespace drey::cuda {
namespace {
constexpr std::uint64_t kAddressBytesMax = std::uint64_t{1} << 40;  // granules stay below 2^32

Outcome failed(Result result) noexcept {
  switch (result) {
    case Result::kSuccess:
      return {};
    case Result::kInvalidValue:
    case Result::kNotSupported:
    case Result::kInvalidDevice:
      return {Status::kInvalidConfig, result};
    default:
      return {Status::kDriver, result};
  }
}

bool has_virtual_memory(const DriverTable& driver, Device device) noexcept {
  int has = 0;
  return driver.device_get_attribute(&has, DeviceAttribute::kVirtualMemory, device) ==
             Result::kSuccess &&
         has != 0;
}
}  // namespace

Outcome AllocatorState::open(const DriverTable& table, const AllocatorConfig& settings) noexcept {
  driver_ = &table;
  config = settings;
  if (settings.peer_count > AllocatorConfig::kPeersMax || settings.address_bytes > kAddressBytesMax)
    return {Status::kInvalidConfig};
  Result result = table.init(0);
  if (result == Result::kSuccess) result = table.device_total_mem(&device_bytes_, settings.device);
  if (result != Result::kSuccess) return failed(result);
  if (!has_virtual_memory(table, settings.device))
    return {Status::kInvalidConfig, Result::kNotSupported};
  result = table.device_primary_ctx_retain(&context_, settings.device);
  if (result != Result::kSuccess) return failed(result);
  has_context_ = true;
  DriverScope scope(table, context_);
  result = scope.need();
  if (result != Result::kSuccess) return failed(result);

  PageStoreConfig pages;
  pages.device = settings.device;
  pages.address_bytes = settings.address_bytes != 0 ? settings.address_bytes
                                                    : std::min(4 * device_bytes_, kAddressBytesMax);
  pages.limit_bytes = device_bytes_;
  pages.pages_of_large = settings.pages_of_large;
  pages.calm_part = settings.calm_part;
  std::copy_n(settings.peers, settings.peer_count, pages.peers);
  pages.peer_count = settings.peer_count;
  result = store.open(table, pages);
  if (result != Result::kSuccess) return failed(result);
  base = store.address_of(0);
  arena_bytes = store.page_count() * store.page_bytes();
  // By number of frees alone: who is short of memory records events anyway.
  const TimelinePolicy events{UINT64_MAX, 64};
  if (timelines.open(table, events) != Result::kSuccess || !captures.open(table) || !heap.open())
    return {Status::kNoMetadata};
  if (!cache_registry::add(*this)) return {Status::kTooManyAllocators};
  is_registered_ = true;
  return set_limits(settings.limits);
}

Outcome AllocatorState::check_usable() const noexcept {
  if (is_forked_child_) return {Status::kForkedChild};
  if (is_closing_ || cache_registry::is_exiting()) return {Status::kClosed};
  return {};
}

// In steps that can each be tried again.
Outcome AllocatorState::close() noexcept {
  if (is_forked_child_ || cache_registry::is_exiting()) {
    abandon();
    return {};
  }
  if (is_registered_) cache_registry::remove(*this);
  is_registered_ = false;
  is_closing_ = true;
  if (has_context_) {
    DriverScope scope(*driver_, context_, captures.count() != 0);
    Result result = scope.need();
    if (result == Result::kSuccess && timelines.is_open()) result = timelines.complete_all();
    if (result == Result::kSuccess) result = store.close();
    if (result == Result::kSuccess) result = timelines.close();
    if (result != Result::kSuccess) return {Status::kDriver, result};
  }
  // The scope has let go of the context.
  if (has_context_) {
    const Result released = driver_->device_primary_ctx_release(config.device);
    if (released != Result::kSuccess) return {Status::kDriver, released};
    has_context_ = false;
  }
  abandon();
  return {};
}

void AllocatorState::abandon() noexcept {
  if (is_registered_) cache_registry::remove(*this);
  is_registered_ = false;
  heap.close();
  captures.close();
  timelines.abandon();
  store.abandon();
}

// What the other threads were doing is lost; counts can still be read.
void AllocatorState::become_forked_child() noexcept {
  is_forked_child_ = true;
  for (ThreadCache* cache = caches; cache != nullptr; cache = cache->next) {
    // Relaxed: there is one thread.
    cache->turn.store(0, std::memory_order_relaxed);
    cache->busy.store(0, std::memory_order_relaxed);
  }
}

ThreadCache* AllocatorState::this_thread_cache() const noexcept {
  ThreadCache* const cache = this_thread_caches.of[id];
  return cache != nullptr && cache->state == this ? cache : nullptr;
}

void AllocatorState::detach(ThreadCache& cache) noexcept {
  const MutexHolder holder(lock);
  leave_scopes(cache);
  if (!is_forked_child_) {
    flush(cache);
    is_epoch_due_ = false;  // an event is a driver call
  }
  const CacheCounters& past = cache.counters;
  small_counts_.allocations.add(past.allocations.value());
  small_counts_.allocated_bytes.add(past.allocated_bytes.value());
  small_counts_.requested_bytes.add(past.requested_bytes.value());
  small_counts_.frees.add(past.frees.value());
  small_counts_.freed_bytes.add(past.freed_bytes.value());
  small_counts_.freed_requested_bytes.add(past.freed_requested_bytes.value());
  if (cache.next != nullptr) cache.next->previous = cache.previous;
  (cache.previous != nullptr ? cache.previous->next : caches) = cache.next;
}

Outcome AllocatorState::misused(Status status) noexcept {
  ++kept_.misuse;
  return {status};
}
}  // namespace drey::cuda
