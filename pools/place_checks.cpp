// place_checks.cpp: see place_checks.hpp.
// SPDX-License-Identifier: MIT
#include "place_checks.hpp"

#include "memory_annotations.hpp"
#include "pool_reports.hpp"

#include <drey/alloc.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): secure_getenv

namespace drey {
namespace {
bool all_are(const unsigned char* begin, std::size_t count, unsigned char byte) noexcept {
  return std::all_of(begin, begin + count, [byte](unsigned char one) { return one == byte; });
}
}  // namespace

bool wants_checks(VectorChecks checks) noexcept {
  if (checks != VectorChecks::kAutomatic) return checks == VectorChecks::kOn;
  if (const char* const wish = secure_getenv("DREY_POOL_CHECKS"); wish != nullptr) {
    return std::strcmp(wish, "0") != 0;
  }
  return runs_under_asan() || runs_under_valgrind();
}

PlaceChecks* PlaceChecks::create(const PoolMemory& memory) noexcept {
  void* const own = allocate(sizeof(PlaceChecks));
  auto* const sites = static_cast<const void**>(drey_calloc(memory.capacity(), sizeof(void*)));
  auto* const ring =
      static_cast<std::uint32_t*>(drey_calloc(memory.capacity(), sizeof(std::uint32_t)));
  if (own == nullptr || sites == nullptr || ring == nullptr) {
    deallocate(own);
    deallocate(static_cast<void*>(sites));
    deallocate(ring);
    return nullptr;
  }
  auto* const checks = ::new (own) PlaceChecks(memory);
  checks->sites_ = sites;
  checks->ring_ = ring;
  tell_valgrind_of_pool(checks);
  close_memory(memory.vector(0), memory.capacity() * memory.stride_bytes());
  return checks;
}

void PlaceChecks::destroy(PlaceChecks* checks) noexcept {
  if (checks == nullptr) return;
  const PoolMemory& memory = checks->memory_;
  std::uint32_t place = 0;
  while (checks->pop(&place, 1) == 1) {
    if (checks->sites_[place] != nullptr) checks->require_untouched(place);
  }
  tell_valgrind_pool_ends(checks);
  open_memory(memory.vector(0), memory.capacity() * memory.stride_bytes());
  deallocate(static_cast<void*>(checks->sites_));
  deallocate(checks->ring_);
  deallocate(checks);
}

/// Leaves the vector open.
void PlaceChecks::require_untouched(std::uint32_t place) const noexcept {
  unsigned char* const vector = bytes_of(place);
  open_memory(vector, memory_.stride_bytes());
  const PlaceShape& shape = memory_.shape();
  const bool is_untouched =
      all_are(vector, shape.values_bytes, kPoisonByte) &&
      all_are(vector + shape.values_bytes, shape.vector_bytes - shape.values_bytes, 0) &&
      all_are(vector + shape.vector_bytes, memory_.guard_bytes(), kGuardByte);
  if (!is_untouched) report_written_while_free(vector);
}

void PlaceChecks::mark_taken(std::uint32_t place, const void* site) noexcept {
  unsigned char* const vector = bytes_of(place);
  const PlaceShape& shape = memory_.shape();
  if (sites_[place] != nullptr) {
    require_untouched(place);
  } else {
    open_memory(vector, memory_.stride_bytes());
    std::memset(vector + shape.vector_bytes, kGuardByte, memory_.guard_bytes());
  }
  sites_[place] = site;
  close_memory(vector + shape.vector_bytes, memory_.guard_bytes());
  tell_valgrind_taken(this, vector, shape.vector_bytes);
  // The lanes behind the values are zero, whatever Valgrind thinks of a fresh block.
  open_for_valgrind(vector + shape.values_bytes, shape.vector_bytes - shape.values_bytes);
}

void PlaceChecks::mark_free(std::uint32_t place) noexcept {
  unsigned char* const vector = bytes_of(place);
  const PlaceShape& shape = memory_.shape();
  open_memory(vector, memory_.stride_bytes());
  const bool is_sound =
      all_are(vector + shape.values_bytes, shape.vector_bytes - shape.values_bytes, 0) &&
      all_are(vector + shape.vector_bytes, memory_.guard_bytes(), kGuardByte);
  if (!is_sound) report_written_behind(vector, sites_[place]);
  std::memset(vector, kPoisonByte, shape.values_bytes);
  tell_valgrind_free(this, vector);
  close_memory(vector, memory_.stride_bytes());
}

void PlaceChecks::push(const std::uint32_t* places, std::size_t count) noexcept {
  for (std::size_t index = 0; index < count; ++index) {
    ring_[(first_ + count_++) % memory_.capacity()] = places[index];
  }
}

std::size_t PlaceChecks::pop(std::uint32_t* places, std::size_t count) noexcept {
  const std::size_t got = std::min(count, count_);
  for (std::size_t index = 0; index < got; ++index) {
    places[index] = ring_[first_];
    first_ = (first_ + 1) % memory_.capacity();
  }
  count_ -= got;
  return got;
}
}  // namespace drey
