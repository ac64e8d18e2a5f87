// pool_memory.cpp: one block of memory for a pool's vectors, one for their links.
// Read next: include/drey/pools/pool_memory.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/pool_memory.hpp>

#include <drey/alloc.hpp>
#include <drey/base/assert.hpp>
#include <drey/base/bits.hpp>
#include <drey/base/text.hpp>

#include <cstddef>
#include <cstdint>

namespace drey {
PoolMemory::PoolMemory(std::size_t capacity, std::size_t vector_bytes,
                       std::size_t alignment) noexcept {
  DREY_ASSERT(is_power_of_two(alignment));
  DREY_ASSERT(vector_bytes % alignment == 0);
  if (capacity == 0 || capacity > IndexPool::kCapacityMax) return;
  std::size_t vectors_bytes = 0;
  if (__builtin_mul_overflow(capacity, vector_bytes, &vectors_bytes)) return;
  const std::size_t links_bytes = capacity * sizeof(IndexPool::Link);
  void* const vectors = allocate(vectors_bytes, alignment);
  void* const links = vectors != nullptr ? allocate(links_bytes) : nullptr;
  if (links == nullptr) {
    deallocate(vectors);
    return;
  }
  vectors_ = vectors;
  links_ = static_cast<IndexPool::Link*>(links);
  capacity_ = capacity;
  bytes_ = vectors_bytes + links_bytes;
}

PoolMemory::~PoolMemory() {
  deallocate(links_);
  deallocate(vectors_);
}

void report_stray_vector(const void* vector) noexcept {
  Text<200> text;
  text.add("vector pool: given back ").add(vector).add(", which is no vector of this pool");
  fatal(text.c_str());
}

void report_give_back(GiveBackResult result, const void* vector) noexcept {
  Text<200> text;
  text.add("vector pool: vector ").add(vector);
  text.add(result == GiveBackResult::kAlreadyFree ? " given back twice" : " was never taken");
  fatal(text.c_str());
}

void report_vectors_out(std::size_t taken) noexcept {
  Text<200> text;
  text.add("vector pool: destroyed with ").add(std::uint64_t{taken}).add(" vectors out");
  fatal(text.c_str());
}
}  // namespace drey
