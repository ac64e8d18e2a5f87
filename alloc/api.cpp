// api.cpp: the functions of drey/alloc.h.
//
// Each is one line on the contract or the core; nothing here holds state.
// Read next: core/contract.hpp.
// SPDX-License-Identifier: MIT
#include "core/contract.hpp"
#include "core/entry.hpp"

#include <drey/alloc.h>
#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>
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

void drey_stats_print(void) {
  drey_stats_t stats;
  drey::core::read_statistics(stats);
  drey::Text<1024> text;
  text.add("drey ").add(drey::kVersionText);
  text.add("\n  reserved   ").add(std::uint64_t{stats.reserved_bytes}).add(" bytes");
  text.add("\n  committed  ").add(std::uint64_t{stats.committed_bytes}).add(" bytes");
  text.add("\n  in slabs   ").add(std::uint64_t{stats.slab_bytes}).add(" bytes");
  text.add("\n  in large   ").add(std::uint64_t{stats.large_bytes}).add(" bytes");
  text.add("\n  idle       ").add(std::uint64_t{stats.idle_bytes}).add(" bytes");
  text.add("\n  purged     ").add(stats.purged_bytes).add(" bytes");
  text.add("\n  heaps      ").add(stats.heap_count).add(" made, ");
  text.add(stats.orphan_count).add(" without a thread, ").add(stats.adopted_count).add(" adopted");
  text.add("\n  hand-overs ").add(stats.remote_chain_count).add(" chains between threads");
  text.add("\n  system     ").add(stats.system_call_count).add(" calls");
  drey::write_line_to_stderr(text.c_str());
}
}  // extern "C"
