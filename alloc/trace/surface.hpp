// surface.hpp: the entry points of the core, each with its event: what alloc/override is compiled
// with to become libdrey_trace.so.
//
// Same names as core/contract.hpp and core/entry.hpp; what is not named here is theirs, unrecorded.
// Invariants: an allocation is recorded after it succeeded or failed, a free before it happens: so
// of one address, the stamp of a free precedes the stamp of the next malloc that returns it. free of
// null is no event.
// Read next: recorder.hpp; override/surface.hpp, which chooses.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/contract.hpp"
#include "core/entry.hpp"
#include "trace/recorder.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>

namespace drey::trace::surface {
using namespace drey::core;  // NOLINT: what is declared below hides it

[[nodiscard, gnu::always_inline]] inline void* recorded(RecordKind kind, void* block,
                                                        std::size_t size) noexcept {
  record(kind, block, size);
  return block;
}

[[nodiscard, gnu::always_inline]] inline void* recorded_aligned(void* block, std::size_t alignment,
                                                                std::size_t size) noexcept {
  // An alignment that is none made the call fail: as much of it as fits.
  const auto log2 = alignment == 0 ? 0U : log2_floor(alignment);
  record(RecordKind::kAligned, block, size, log2);
  return block;
}

/// Allocates where `block` is null, and records what there is then.
[[nodiscard]] void* allocate_slowly(std::size_t size, void* block) noexcept;
void deallocate_slowly(void* pointer) noexcept;

/// A hit and its record make no call but the one they may end with: no register has to be saved.
[[nodiscard, gnu::always_inline]] inline void* allocate(std::size_t size) noexcept {
  void* const block = core::allocate_hit(size);
  if (block == nullptr || !try_record(pack(RecordKind::kMalloc, address_of(block), 0), size))
      [[unlikely]] {
    return allocate_slowly(size, block);
  }
  return block;
}

/// operator new tries this first; a miss comes back by way of allocate(), which records it.
[[nodiscard, gnu::always_inline]] inline void* allocate_hit(std::size_t size) noexcept {
  void* const block = core::allocate_hit(size);
  if (block == nullptr) [[unlikely]]
    return nullptr;
  if (!try_record(pack(RecordKind::kMalloc, address_of(block), 0), size)) [[unlikely]]
    return allocate_slowly(size, block);
  return block;
}

[[nodiscard]] inline void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
  return recorded_aligned(core::allocate_aligned(alignment, size), alignment, size);
}

[[gnu::always_inline]] inline void deallocate(void* pointer) noexcept {
  if (pointer == nullptr) return;
  if (!try_record(pack(RecordKind::kFree, address_of(pointer), 0), 0)) [[unlikely]] {
    return deallocate_slowly(pointer);
  }
  core::deallocate(pointer);
}

namespace contract {
using namespace drey::core::contract;  // NOLINT: what is declared below hides it
namespace plain = drey::core::contract;

[[nodiscard, gnu::always_inline]] inline void* allocate(std::size_t size) noexcept {
  return surface::allocate(size);
}

[[nodiscard]] inline void* allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  return recorded(RecordKind::kCalloc, plain::allocate_zeroed(count, size),
                  plain::saturating_product(count, size));
}

[[nodiscard]] inline void* reallocate(void* pointer, std::size_t size) noexcept {
  record(RecordKind::kReallocateFrom, pointer, size);
  return recorded(RecordKind::kReallocateTo, plain::reallocate(pointer, size), size);
}

[[nodiscard]] inline void* reallocate_array(void* pointer, std::size_t count,
                                            std::size_t size) noexcept {
  return reallocate(pointer, plain::saturating_product(count, size));
}

[[nodiscard]] inline void* allocate_aligned(std::size_t alignment, std::size_t size) noexcept {
  return recorded_aligned(plain::allocate_aligned(alignment, size), alignment, size);
}

[[nodiscard]] inline void* allocate_memalign(std::size_t alignment, std::size_t size) noexcept {
  return allocate_aligned(plain::memalign_alignment(alignment), size);
}

[[nodiscard]] inline int allocate_posix(void** pointer, std::size_t alignment,
                                        std::size_t size) noexcept {
  void* block = nullptr;
  const int error = plain::allocate_posix(&block, alignment, size);
  static_cast<void>(recorded_aligned(block, alignment, size));
  if (error == 0) *pointer = block;
  return error;
}

[[nodiscard]] inline void* allocate_on_page(std::size_t size) noexcept {
  return allocate_aligned(plain::page_bytes(), size);
}

[[nodiscard]] inline void* allocate_pages(std::size_t size) noexcept {
  return recorded_aligned(plain::allocate_pages(size), plain::page_bytes(), size);
}
}  // namespace contract
}  // namespace drey::trace::surface
