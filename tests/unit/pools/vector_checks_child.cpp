// vector_checks_child.cpp: one wrong use of a vector, named by the argument, for Valgrind to find.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
using drey::PooledVector;
using drey::VectorPool225;

/// A right program: every kind of handle, vectors used again.
int use_rightly(VectorPool225& pool) {
  float sum = 0;
  for (int round = 0; round < 20; ++round) {
    const PooledVector vector = pool.take();
    std::ranges::fill(vector.values(), 1.0F);
    for (const float lane : vector->lanes()) sum += lane;
    const drey::VectorBatch batch = pool.take_batch(3);
    std::ranges::fill(batch[2].values(), 1.0F);
    sum += batch[2].lanes()[239] + batch[2].lanes()[0];
  }
  return sum == 20 * 226.0F ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  // The pool's own check finds some of it as well, and aborts; what Valgrind said before counts.
  std::signal(SIGABRT, [](int) { std::_Exit(3); });
  const char* const crime = argc == 2 ? argv[1] : "";
  VectorPool225 pool(8);
  if (!pool.is_checked()) return 2;  // under Valgrind it is, by itself
  volatile float* values = nullptr;
  {
    const PooledVector vector = pool.take();
    values = vector.values().data();
    if (std::strcmp(crime, "behind") == 0) values[240] = 1;
    if (std::strcmp(crime, "unwritten") == 0 && values[7] > 0) std::puts("positive");
  }
  if (std::strcmp(crime, "none") == 0) return use_rightly(pool);
  if (std::strcmp(crime, "late_write") == 0) values[7] = 1;
  if (std::strcmp(crime, "late_read") == 0 && values[7] > 0) std::puts("positive");
  return 0;
}
