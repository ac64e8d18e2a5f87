// new_delete.cpp: every replaceable operator new and delete; the only file here with exceptions.
//
// Four of them do the work: new and delete, plain and aligned. The others call those, as the
// standard's defaults do ([new.delete.array], [new.delete.single]), so that a program that replaces
// only the plain pair gets every form. All are weak: a program's own definitions win at link time,
// and no compiler binds the forwarding calls to the ones here.
// Read next: malloc.cpp.
// SPDX-License-Identifier: MIT
#include "core/contract.hpp"
#include "core/entry.hpp"
#include "override/surface.hpp"

#include <drey/alloc.h>

#include <cstddef>
#include <new>

namespace core = drey::surface::core;

namespace {
using std::align_val_t;
using std::nothrow_t;
using std::size_t;

/// Null where memory is out or the alignment is none, which ends in bad_alloc just as well.
void* take(size_t size, align_val_t alignment) noexcept {
  const size_t bytes = static_cast<size_t>(alignment);
  const bool fits = core::contract::is_alignment(bytes) && size <= core::kSizeMax;
  return fits ? core::allocate_aligned(bytes, size) : nullptr;
}

/// Attempts, and asks the program for memory, until there is some or it gives up, as
/// [new.delete.single] says.
template <typename Attempt>
void* take_or_throw(Attempt attempt) {
  for (;;) {
    if (void* const block = attempt(); block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

[[gnu::noinline]] void* take_slowly(size_t size) {
  return take_or_throw([size]() noexcept { return core::allocate(size); });
}
}  // namespace

// --- The four that do the work ---

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size) {
  void* const block = core::allocate_hit(size);
  if (block == nullptr) [[unlikely]] {
    return take_slowly(size);
  }
  return block;
}

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size, align_val_t alignment) {
  return take_or_throw([size, alignment]() noexcept { return take(size, alignment); });
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer) noexcept {
  core::deallocate(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, align_val_t /*alignment*/) noexcept {
  core::deallocate(pointer);
}

// --- The forms that never throw. A bad_alloc, or whatever a handler threw, ends here. ---

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size, const nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new(size);
  } catch (...) {
    return nullptr;
  }
}

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size, align_val_t alignment,
                                             const nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, const nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new[](size);
  } catch (...) {
    return nullptr;
  }
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, align_val_t alignment,
                                               const nothrow_t& /*tag*/) noexcept {
  try {
    return ::operator new[](size, alignment);
  } catch (...) {
    return nullptr;
  }
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, const nothrow_t& /*tag*/) noexcept {
  ::operator delete(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, align_val_t alignment,
                                               const nothrow_t& /*tag*/) noexcept {
  ::operator delete(pointer, alignment);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, const nothrow_t& /*tag*/) noexcept {
  ::operator delete[](pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, align_val_t alignment,
                                                 const nothrow_t& /*tag*/) noexcept {
  ::operator delete[](pointer, alignment);
}

// --- Arrays ---

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size) {
  return ::operator new(size);
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, align_val_t alignment) {
  return ::operator new(size, alignment);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer) noexcept {
  ::operator delete(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, align_val_t alignment) noexcept {
  ::operator delete(pointer, alignment);
}

// --- Sized: the size is a hint that drey does not need, and a wrong one does no harm ---

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, size_t /*size*/) noexcept {
  ::operator delete(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, size_t /*size*/) noexcept {
  ::operator delete[](pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, size_t /*size*/,
                                               align_val_t alignment) noexcept {
  ::operator delete(pointer, alignment);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, size_t /*size*/,
                                                 align_val_t alignment) noexcept {
  ::operator delete[](pointer, alignment);
}
