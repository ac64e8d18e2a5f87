// profile_sites.cpp: see profile_sites.hpp. The markers keep the two from being one.
// SPDX-License-Identifier: MIT
#include "unit/alloc/profile_sites.hpp"

#include <drey/alloc.h>

extern "C" {
void take_here(std::vector<void*>& blocks, std::size_t count, std::size_t size) {
  for (std::size_t index = 0; index < count; ++index) blocks.push_back(drey_malloc(size));
  asm volatile("# here" ::: "memory");
}
void take_there(std::vector<void*>& blocks, std::size_t count, std::size_t size) {
  for (std::size_t index = 0; index < count; ++index) blocks.push_back(drey_malloc(size));
  asm volatile("# there\n\tnop" ::: "memory");
}
}
