// pinned_cache.cpp: see drey/cuda/pinned_cache.hpp: all of it is PinnedState's.
// SPDX-License-Identifier: MIT
#include <drey/cuda/pinned_cache.hpp>

#include "pinned/pinned_state.hpp"

#include <new>

#include <sys/mman.h>

namespace drey::cuda {
PinnedCache::~PinnedCache() {
  abandon();
}

Outcome PinnedCache::open(const DriverTable& driver, const PinnedConfig& config) noexcept {
  if (is_open()) return {Status::kInvalidConfig};
  void* const memory = ::mmap(nullptr, sizeof(PinnedState), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {Status::kNoMetadata};
  state_ = ::new (memory) PinnedState;
  const Outcome opened = state_->open(driver, config);
  if (opened.is_ok()) return opened;
  // What was begun is taken back; a driver that refuses that as well keeps it.
  static_cast<void>(state_->close());
  abandon();
  return opened;
}

Outcome PinnedCache::close() noexcept {
  if (!is_open()) return {};
  const Outcome closed = state_->close();
  if (closed.is_ok()) abandon();
  return closed;
}

void PinnedCache::abandon() noexcept {
  if (!is_open()) return;
  state_->abandon();
  state_->~PinnedState();
  ::munmap(state_, sizeof(PinnedState));
  state_ = nullptr;
}

Allocation PinnedCache::try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (!is_open()) return {nullptr, {Status::kClosed}};
  return state_->allocate(bytes, alignment, nullptr);
}

Allocation PinnedCache::try_allocate(std::size_t bytes, std::size_t alignment,
                                     Stream stream) noexcept {
  if (!is_open()) return {nullptr, {Status::kClosed}};
  return state_->allocate(bytes, alignment, &stream);
}

Outcome PinnedCache::try_deallocate(void* pointer) noexcept {
  if (pointer == nullptr) return {};
  return is_open() ? state_->deallocate(pointer, nullptr, nullptr) : Outcome{Status::kClosed};
}

Outcome PinnedCache::try_deallocate(void* pointer, Stream stream) noexcept {
  if (pointer == nullptr) return {};
  return is_open() ? state_->deallocate(pointer, &stream, nullptr) : Outcome{Status::kClosed};
}

Outcome PinnedCache::try_deallocate_sized(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return {};
  return is_open() ? state_->deallocate(pointer, nullptr, &bytes) : Outcome{Status::kClosed};
}

Outcome PinnedCache::try_deallocate_sized(void* pointer, std::size_t bytes,
                                          Stream stream) noexcept {
  if (pointer == nullptr) return {};
  return is_open() ? state_->deallocate(pointer, &stream, &bytes) : Outcome{Status::kClosed};
}

Outcome PinnedCache::record_use(void* pointer, Stream stream) noexcept {
  return is_open() ? state_->record_use(pointer, stream) : Outcome{Status::kClosed};
}

Outcome PinnedCache::stream_retired(Stream stream) noexcept {
  return is_open() ? state_->retire(stream) : Outcome{Status::kClosed};
}

Outcome PinnedCache::trim_to(std::uint64_t bytes_kept, std::uint64_t* released) noexcept {
  if (is_open()) return state_->trim(bytes_kept, released);
  if (released != nullptr) *released = 0;
  return {Status::kClosed};
}

Outcome PinnedCache::set_bytes_max(std::uint64_t bytes_max) noexcept {
  return is_open() ? state_->set_bytes_max(bytes_max) : Outcome{Status::kClosed};
}

PinnedStatistics PinnedCache::statistics() const noexcept {
  return is_open() ? state_->statistics() : PinnedStatistics{};
}

bool PinnedCache::invariants_hold() const noexcept {
  return !is_open() || state_->invariants_hold();
}
}  // namespace drey::cuda
