// new_delete.cpp: every replaceable operator new and delete; the only file here with exceptions.
//
// Four of them do the work: new and delete, plain and aligned. The others call those, as the
// standard's defaults do ([new.delete.array], [new.delete.single]), so that a program that replaces
// only the plain pair gets every form. All are weak: a program's own definitions win at link time,
// and no compiler binds the forwarding calls to the ones here.
// The C++ runtime is used where the program has one and never asked for: libdrey.so must not bring
// 1.2 MB of libstdc++, libm and libgcc_s into every C program it is preloaded into.
// Read next: cpp_runtime.hpp, malloc.cpp.
// SPDX-License-Identifier: MIT
#include "core/contract.hpp"
#include "core/entry.hpp"
#include "override/cpp_runtime.hpp"
#include "override/surface.hpp"

#include <drey/alloc.h>

#include <cstddef>
#include <new>

// What the compiler itself refers to for the catch clause below; bound with the runtime.
asm(".weak __gxx_personality_v0");
asm(".weak __cxa_begin_catch");
asm(".weak __cxa_end_catch");
asm(".weak _Unwind_Resume");

namespace core = drey::surface::core;
namespace cpp_runtime = drey::override::cpp_runtime;

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
    const std::new_handler handler = cpp_runtime::new_handler();
    if (handler == nullptr) cpp_runtime::throw_bad_alloc();
    handler();
  }
}

/// The same without exceptions: null when the program gives up, or when a handler throws. `forward`
/// is asked instead where the program has an operator new of its own.
template <typename Attempt, typename Forward>
void* take_or_null(bool is_ours, Attempt attempt, Forward forward) noexcept {
  try {
    if (!is_ours) return forward();
    for (;;) {
      if (void* const block = attempt(); block != nullptr) return block;
      const std::new_handler handler = cpp_runtime::new_handler();
      if (handler == nullptr) return nullptr;
      handler();
    }
  } catch (...) {
    return nullptr;
  }
}

[[gnu::noinline]] void* take_slowly(size_t size) {
  return take_or_throw([size]() noexcept { return core::allocate(size); });
}
[[gnu::noinline]] void* take_slowly(size_t size, align_val_t alignment) {
  return take_or_throw([size, alignment]() noexcept { return take(size, alignment); });
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
  void* const block = core::allocate_aligned_hit(static_cast<size_t>(alignment), size);
  if (block == nullptr) [[unlikely]] {
    return take_slowly(size, alignment);
  }
  return block;
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer) noexcept {
  core::deallocate(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, align_val_t /*alignment*/) noexcept {
  core::deallocate(pointer);
}

// --- Arrays, given back further below ---

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size) {
  return ::operator new(size);
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, align_val_t alignment) {
  return ::operator new(size, alignment);
}

// --- The forms that never throw. What the program replaced is found by comparing addresses. ---

extern "C" {
[[gnu::visibility("hidden"), gnu::alias("_Znwm"), gnu::malloc,
  gnu::alloc_size(1)]] void* drey_own_new(size_t);
[[gnu::visibility("hidden"), gnu::alias("_ZnwmSt11align_val_t"), gnu::malloc,
  gnu::alloc_size(1)]] void* drey_own_aligned_new(size_t, align_val_t);
[[gnu::visibility("hidden"), gnu::alias("_Znam"), gnu::malloc,
  gnu::alloc_size(1)]] void* drey_own_array_new(size_t);
[[gnu::visibility("hidden"), gnu::alias("_ZnamSt11align_val_t"), gnu::malloc,
  gnu::alloc_size(1)]] void* drey_own_aligned_array_new(size_t, align_val_t);
}

namespace {
using Plain = void* (*)(size_t);
using Aligned = void* (*)(size_t, align_val_t);

/// Plain and array forms call the plain one, so both must be ours.
[[nodiscard]] bool plain_is_ours(Plain form, Plain own_form) noexcept {
  return form == own_form && Plain{&::operator new } == & drey_own_new;
}
[[nodiscard]] bool aligned_is_ours(Aligned form, Aligned own_form) noexcept {
  return form == own_form && Aligned{&::operator new } == & drey_own_aligned_new;
}

void* take_plain(Plain form, Plain own_form, size_t size) noexcept {
  return take_or_null(
      plain_is_ours(form, own_form), [size]() noexcept { return core::allocate(size); },
      [form, size] { return form(size); });
}

void* take_aligned(Aligned form, Aligned own_form, size_t size, align_val_t alignment) noexcept {
  return take_or_null(
      aligned_is_ours(form, own_form), [=]() noexcept { return take(size, alignment); },
      [=] { return form(size, alignment); });
}
}  // namespace

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size, const nothrow_t& /*tag*/) noexcept {
  return take_plain(&::operator new, &drey_own_new, size);
}

[[gnu::weak]] DREY_EXPORT void* operator new(size_t size, align_val_t alignment,
                                             const nothrow_t& /*tag*/) noexcept {
  return take_aligned(&::operator new, &drey_own_aligned_new, size, alignment);
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, const nothrow_t& /*tag*/) noexcept {
  return take_plain(&::operator new[], &drey_own_array_new, size);
}

[[gnu::weak]] DREY_EXPORT void* operator new[](size_t size, align_val_t alignment,
                                               const nothrow_t& /*tag*/) noexcept {
  return take_aligned(&::operator new[], &drey_own_aligned_array_new, size, alignment);
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

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer) noexcept {
  ::operator delete(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, align_val_t alignment) noexcept {
  ::operator delete(pointer, alignment);
}

// --- Sized: the size is a hint that drey does not need, and a wrong one does no harm; secure builds
// report it, where the block is from an operator new of ours ---

namespace {
void check_size(Plain form, Plain own_form, const void* pointer, size_t size) noexcept {
  if constexpr (core::kSecure) {
    if (plain_is_ours(form, own_form)) core::check_size(pointer, size);
  }
}
void check_size(Aligned form, Aligned own_form, const void* pointer, size_t size) noexcept {
  if constexpr (core::kSecure) {
    if (aligned_is_ours(form, own_form)) core::check_size(pointer, size);
  }
}
}  // namespace

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, size_t size) noexcept {
  check_size(Plain{&::operator new}, &drey_own_new, pointer, size);
  ::operator delete(pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, size_t size) noexcept {
  check_size(Plain{&::operator new[]}, &drey_own_array_new, pointer, size);
  ::operator delete[](pointer);
}

[[gnu::weak]] DREY_EXPORT void operator delete(void* pointer, size_t size,
                                               align_val_t alignment) noexcept {
  check_size(Aligned{&::operator new}, &drey_own_aligned_new, pointer, size);
  ::operator delete(pointer, alignment);
}

[[gnu::weak]] DREY_EXPORT void operator delete[](void* pointer, size_t size,
                                                 align_val_t alignment) noexcept {
  check_size(Aligned{&::operator new[]}, &drey_own_aligned_array_new, pointer, size);
  ::operator delete[](pointer, alignment);
}
