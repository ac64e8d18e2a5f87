// surface.cpp: the calls that are no hit, or whose record needs a call. Read next: surface.hpp.
// SPDX-License-Identifier: MIT
#include "trace/surface.hpp"

namespace drey::trace::surface {
void* allocate_slowly(std::size_t size, void* block) noexcept {
  return recorded(RecordKind::kMalloc, block != nullptr ? block : core::allocate(size), size);
}

void deallocate_slowly(void* pointer) noexcept {
  record(RecordKind::kFree, pointer, 0);
  core::deallocate(pointer);
}
}  // namespace drey::trace::surface
