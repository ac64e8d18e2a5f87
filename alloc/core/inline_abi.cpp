// inline_abi.cpp: what drey/alloc/fixed.hpp inlines into other programs is what the core is.
//
// Invariant: every field, constant and rule that the header relies on is compared here. A change
// that breaks one needs a new number in the symbol's name, here and in the header, so that programs
// compiled with the old header do not link with the new library.
// Read next: fixed.hpp, fast_path.hpp.
// SPDX-License-Identifier: MIT
#include "core/fast_path.hpp"

#include <drey/alloc/fixed.hpp>

#include <cstddef>

extern "C" const char drey_inline_abi_1 = 1;

namespace drey::core {
namespace {
using detail::HotBlock;
using detail::HotHeap;
using detail::HotMap;
using detail::HotSlab;

static_assert(offsetof(HotBlock, next) == offsetof(Block, next));
static_assert(offsetof(HotSlab, free) == offsetof(Slab, free));
static_assert(offsetof(HotSlab, countdown) == offsetof(Slab, countdown));
static_assert(offsetof(HotSlab, owner) == offsetof(Slab, owner));
static_assert(sizeof(HotSlab::countdown) == sizeof(Slab::countdown));
static_assert(offsetof(HotHeap, current) == offsetof(Heap, current));
static_assert(sizeof(HotHeap::current) == sizeof(CurrentSlabs));
static_assert(offsetof(HotMap, flat_base) == offsetof(SlabMap, flat_base));
static_assert(offsetof(HotMap, flat_mask) == offsetof(SlabMap, flat_mask));
static_assert(sizeof(std::uintptr_t) == sizeof(SlabMap::Entry));
static_assert(kSliceShift == 16 && kMediumSizeMax == detail::kFixedSizeMax);

[[nodiscard]] consteval bool classes_are_the_same() {
  for (std::size_t size = 1; size <= kMediumSizeMax; size += size < 3000 ? 1 : 61) {
    if (detail::class_index_of(size) != index_of(class_of(size))) return false;
  }
  return detail::class_index_of(0) == 1;
}
static_assert(classes_are_the_same());
}  // namespace
}  // namespace drey::core
