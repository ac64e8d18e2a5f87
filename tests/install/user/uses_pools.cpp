// uses_pools.cpp: vectors of 225 floats from a pool.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include "owns_block.hpp"

int main() {
  drey::VectorPool225 pool(1000);
  const drey::PooledVector first = pool.take();
  const drey::PooledVector second = pool.take();
  return first && second ? check_owner(false) : 1;
}
