// metadata.cpp: a bump allocator over mapped chunks. Read next: metadata.hpp.
// SPDX-License-Identifier: MIT
#include "core/metadata.hpp"

#include "os/lock.hpp"
#include "os/os.hpp"

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

namespace drey::core {
namespace {
/// Address space of a chunk; only what is handed out is ever touched.
constexpr std::size_t kChunkBytes = 256_KiB;

constinit os::Lock lock;
constinit std::byte* next = nullptr;
constinit std::size_t left_bytes = 0;
constinit std::size_t taken_bytes = 0;
}  // namespace

void* take_metadata(std::size_t bytes, std::size_t alignment) noexcept {
  const os::LockHolder hold(lock);
  std::size_t padding = align_up(address_of(next), alignment) - address_of(next);
  if (next == nullptr || padding + bytes > left_bytes) {
    const std::size_t chunk = align_up(bytes < kChunkBytes ? kChunkBytes : bytes, os::page_bytes());
    auto* const start = static_cast<std::byte*>(os::map(chunk, os::page_bytes()));
    if (start == nullptr) return nullptr;
    next = start;
    left_bytes = chunk;
    padding = 0;
  }
  std::byte* const place = next + padding;
  next += padding + bytes;
  left_bytes -= padding + bytes;
  taken_bytes += bytes;
  return place;
}

std::size_t metadata_bytes() noexcept {
  const os::LockHolder hold(lock);
  return taken_bytes;
}

void acquire_metadata_lock() noexcept {
  lock.acquire();
}
void release_metadata_lock() noexcept {
  lock.release();
}
}  // namespace drey::core
