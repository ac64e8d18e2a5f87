// api.cpp: the functions of drey/alloc.h.
//
// Each is one line on the contract or the core; nothing here holds state.
// Read next: core/contract.hpp.
// SPDX-License-Identifier: MIT
#include "core/batch.hpp"
#include "core/contract.hpp"
#include "core/entry.hpp"
#include "core/statistics.hpp"
#include "os/file.hpp"

#include <drey/alloc.h>
#include <drey/base/version.hpp>

#include <cstddef>
#include <cstdint>

namespace contract = drey::core::contract;

extern "C" {
void* drey_malloc(size_t size) {
  return contract::allocate(size);
}

void* drey_calloc(size_t count, size_t size) {
  return contract::allocate_zeroed(count, size);
}

void* drey_realloc(void* pointer, size_t size) {
  return contract::reallocate(pointer, size);
}

void* drey_reallocarray(void* pointer, size_t count, size_t size) {
  return contract::reallocate_array(pointer, count, size);
}

void* drey_aligned_alloc(size_t alignment, size_t size) {
  return contract::allocate_aligned(alignment, size);
}

int drey_posix_memalign(void** pointer, size_t alignment, size_t size) {
  return contract::allocate_posix(pointer, alignment, size);
}

void* drey_memalign(size_t alignment, size_t size) {
  return contract::allocate_memalign(alignment, size);
}

void* drey_valloc(size_t size) {
  return contract::allocate_on_page(size);
}

void* drey_pvalloc(size_t size) {
  return contract::allocate_pages(size);
}

void* drey_aligned_calloc(size_t alignment, size_t count, size_t size) {
  return contract::allocate_aligned_zeroed(alignment, count, size);
}

void* drey_aligned_realloc(void* pointer, size_t alignment, size_t size) {
  return contract::reallocate_aligned(pointer, alignment, size);
}

bool drey_expand(void* pointer, size_t size) {
  return contract::expand(pointer, size);
}

size_t drey_malloc_batch(size_t size, void** blocks, size_t count) {
  return drey::core::take_batch(size, blocks, count);
}

void drey_free_batch(void* const* blocks, size_t count) {
  drey::core::give_back_batch(blocks, count);
}

void drey_free(void* pointer) {
  drey::core::deallocate(pointer);
}

// A wrong size is a common bug and harmless to most allocators; so it is only a hint here, but for
// secure builds.
void drey_free_sized(void* pointer, size_t size) {
  drey::core::check_size(pointer, size);
  drey::core::deallocate(pointer);
}

void drey_free_aligned_sized(void* pointer, size_t /*alignment*/, size_t size) {
  drey::core::check_size(pointer, size);
  drey::core::deallocate(pointer);
}

size_t drey_usable_size(const void* pointer) {
  return drey::core::usable_bytes(pointer);
}

size_t drey_good_size(size_t size) {
  return size > drey::core::kSizeMax ? size : drey::core::good_size(size);
}

bool drey_owns(const void* pointer) {
  return drey::core::owns(pointer);
}

void drey_collect(void) {
  drey::core::collect();
}

const char* drey_version(void) {
  return drey::kVersionText;
}

void drey_stats_read(drey_stats_t* stats) {
  drey::core::read_statistics(*stats);
}

// Here, not in observe_api.cpp: malloc_stats() refers to it, and so a program that links the override
// has this object with drey_version() and drey_owns() in it, by which it can be told whose malloc it is.
void drey_stats_print(void) {
  drey::core::ReportWriter report(drey::os::kStandardError);
  drey::core::add_statistics_text(report);
}
}  // extern "C"
