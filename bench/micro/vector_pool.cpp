// vector_pool.cpp: vectors of 225 floats from drey's own pool, which asks no malloc once it is
// made: its time is the same whoever the process's allocator is.
// Read next: vector_source.hpp, vectors.cpp.
// SPDX-License-Identifier: MIT
#include "micro/vector_source.hpp"

#include <drey/pools/vector_pool.hpp>

namespace drey::bench {
namespace {
class PoolSource {
 public:
  void* take() { return pool_.take().detach(); }
  void give_back(void* vector) { pool_.give_back(static_cast<VectorPool225::Vector*>(vector)); }

 private:
  VectorPool225 pool_{1024};
};

void pair_from_pool(benchmark::State& state) {
  PoolSource source;
  vector_pair(state, source);
}

void burst_from_pool(benchmark::State& state) {
  PoolSource source;
  vector_burst(state, source);
}

BENCHMARK(pair_from_pool)->Name("vector225_pair_drey_pool");
BENCHMARK(burst_from_pool)->Name("vector225_burst_drey_pool");
}  // namespace
}  // namespace drey::bench
