// new_delete.cpp: every operator new and delete by way of the counted malloc and free.
//
// libstdc++'s would do that too; but a subject that is a shared library brings operators of its
// own, which go past the counter. The program's definitions come before both.
// Read next: heap_calls.cpp.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <new>

namespace {
/// As the standard asks: the new_handler may free something; without one there is nothing to try.
template <typename Take>
void* take_or_throw(Take take) {
  for (;;) {
    if (void* const block = take(); block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* take(std::size_t size) {
  return take_or_throw([size] { return std::malloc(size); });
}

void* take(std::size_t size, std::align_val_t alignment) {
  return take_or_throw(
      [size, alignment] { return std::aligned_alloc(static_cast<std::size_t>(alignment), size); });
}

template <typename... Arguments>
void* take_or_null(Arguments... arguments) noexcept {
  try {
    return take(arguments...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

using Alignment = std::align_val_t;
using NoThrow = std::nothrow_t;
using Size = std::size_t;
}  // namespace

void* operator new(Size size) {
  return take(size);
}
void* operator new[](Size size) {
  return take(size);
}
void* operator new(Size size, Alignment alignment) {
  return take(size, alignment);
}
void* operator new[](Size size, Alignment alignment) {
  return take(size, alignment);
}
void* operator new(Size size, const NoThrow& /*tag*/) noexcept {
  return take_or_null(size);
}
void* operator new[](Size size, const NoThrow& /*tag*/) noexcept {
  return take_or_null(size);
}
void* operator new(Size size, Alignment alignment, const NoThrow& /*tag*/) noexcept {
  return take_or_null(size, alignment);
}
void* operator new[](Size size, Alignment alignment, const NoThrow& /*tag*/) noexcept {
  return take_or_null(size, alignment);
}

void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, Size /*size*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, Size /*size*/) noexcept {
  std::free(block);
}
void operator delete(void* block, Alignment /*alignment*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, Alignment /*alignment*/) noexcept {
  std::free(block);
}
void operator delete(void* block, Size /*size*/, Alignment /*alignment*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, Size /*size*/, Alignment /*alignment*/) noexcept {
  std::free(block);
}
void operator delete(void* block, const NoThrow& /*tag*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, const NoThrow& /*tag*/) noexcept {
  std::free(block);
}
void operator delete(void* block, Alignment /*alignment*/, const NoThrow& /*tag*/) noexcept {
  std::free(block);
}
void operator delete[](void* block, Alignment /*alignment*/, const NoThrow& /*tag*/) noexcept {
  std::free(block);
}
