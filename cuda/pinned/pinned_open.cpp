// pinned_open.cpp: the part of pinned_state.hpp that begins and ends a cache, and what happens when the process
// forks or ends.
// SPDX-License-Identifier: MIT
#include "pinned/pinned_state.hpp"

#include <atomic>
#include <cstdlib>

#include <pthread.h>

namespace drey::cuda {
namespace pinned_registry {
namespace {
constinit Mutex registry_lock;
constinit PinnedState* open_caches = nullptr;
constinit bool is_prepared = false;
constinit std::atomic<bool> has_exit_begun{false};

void before_fork() noexcept {
  registry_lock.acquire();
  for (PinnedState* state = open_caches; state != nullptr; state = state->next_open)
    state->lock.acquire();
}

void release_all() noexcept {
  for (PinnedState* state = open_caches; state != nullptr; state = state->next_open)
    state->lock.release();
  registry_lock.release();
}

void in_child() noexcept {
  for (PinnedState* state = open_caches; state != nullptr; state = state->next_open)
    state->become_forked_child();
  release_all();
}

void prepare() noexcept {
  is_prepared = true;
  static_cast<void>(::pthread_atfork(before_fork, release_all, in_child));
  // Behind the driver's own handlers, which are there already, and so before them.
  // Relaxed: a thread that runs on while the process ends may be late.
  static_cast<void>(std::atexit([] { has_exit_begun.store(true, std::memory_order_relaxed); }));
}
}  // namespace

void add(PinnedState& state) noexcept {
  const MutexHolder holder(registry_lock);
  if (!is_prepared) prepare();
  state.previous_open = nullptr;
  state.next_open = open_caches;
  if (open_caches != nullptr) open_caches->previous_open = &state;
  open_caches = &state;
}

void remove(PinnedState& state) noexcept {
  const MutexHolder holder(registry_lock);
  if (state.next_open != nullptr) state.next_open->previous_open = state.previous_open;
  (state.previous_open != nullptr ? state.previous_open->next_open : open_caches) = state.next_open;
}

bool is_exiting() noexcept {
  // Relaxed: as it is set.
  return has_exit_begun.load(std::memory_order_relaxed);
}
}  // namespace pinned_registry

Outcome PinnedState::open(const DriverTable& table, const PinnedConfig& settings) noexcept {
  driver_ = &table;
  config_ = settings;
  if (settings.frees_per_event == 0) return {Status::kInvalidConfig};
  Result result = table.init(0);
  if (result != Result::kSuccess) return {Status::kDriver, result};
  result = table.device_primary_ctx_retain(&context_, settings.device);
  if (result == Result::kInvalidDevice || result == Result::kInvalidValue)
    return {Status::kInvalidConfig, result};
  if (result != Result::kSuccess) return {Status::kDriver, result};
  has_context_ = true;
  if (!table_.open() || timelines_.open(table, {UINT64_MAX, UINT32_MAX}) != Result::kSuccess)
    return {Status::kNoMetadata};
  pinned_registry::add(*this);
  is_registered_ = true;
  return {};
}

Outcome PinnedState::check_usable() const noexcept {
  if (is_forked_child_) return {Status::kForkedChild};
  if (is_closing_ || pinned_registry::is_exiting()) return {Status::kClosed};
  return {};
}

// In steps that can each be tried again.
Outcome PinnedState::close_driver() noexcept {
  DriverScope scope(*driver_, context_, true);
  Result result = scope.need();
  if (result == Result::kSuccess && timelines_.is_open()) result = timelines_.complete_all();
  while (result == Result::kSuccess && table_.slab_count() != 0) {
    const std::uint32_t slab = table_.any_slab();
    result = driver_->mem_free_host(table_.slab(slab).base);
    if (result == Result::kSuccess) table_.forget(slab);
  }
  if (result == Result::kSuccess && timelines_.is_open()) result = timelines_.close();
  return pinned_outcome_of(result);
}

Outcome PinnedState::close() noexcept {
  if (!is_forked_child_ && !pinned_registry::is_exiting()) {
    is_closing_ = true;
    if (has_context_) {
      const Outcome closed = close_driver();
      if (!closed.is_ok()) return closed;
      // The scope has let go of the context.
      const Result released = driver_->device_primary_ctx_release(config_.device);
      if (released != Result::kSuccess) return {Status::kDriver, released};
      has_context_ = false;
    }
  }
  abandon();
  return {};
}

void PinnedState::abandon() noexcept {
  if (is_registered_) pinned_registry::remove(*this);
  is_registered_ = false;
  timelines_.abandon();
  table_.close();
}
}  // namespace drey::cuda
