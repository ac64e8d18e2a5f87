// vectors.cpp: vectors of 225 floats from plain malloc and from the standard library's pools, which
// stand on the process's allocator in turn. drey's own pool: vector_pool.cpp.
// Read next: vector_source.hpp.
// SPDX-License-Identifier: MIT
#include "micro/vector_source.hpp"

#include <drey/base/units.hpp>

#include <memory_resource>

namespace drey::bench {
namespace {
struct MallocSource {
  static void* take() { return std::malloc(kVectorBytes); }
  static void give_back(void* vector) { std::free(vector); }
};

template <typename Resource>
class ResourceSource {
 public:
  void* take() { return resource_.allocate(kVectorBytes, kCacheLineBytes); }
  void give_back(void* vector) { resource_.deallocate(vector, kVectorBytes, kCacheLineBytes); }

 private:
  Resource resource_{std::pmr::new_delete_resource()};
};

using UnsynchronizedSource = ResourceSource<std::pmr::unsynchronized_pool_resource>;
using SynchronizedSource = ResourceSource<std::pmr::synchronized_pool_resource>;

template <typename Source>
void pair_from(benchmark::State& state) {
  Source source;
  vector_pair(state, source);
}

template <typename Source>
void burst_from(benchmark::State& state) {
  Source source;
  vector_burst(state, source);
}

BENCHMARK(pair_from<MallocSource>)->Name("vector225_pair_malloc");
BENCHMARK(burst_from<MallocSource>)->Name("vector225_burst_malloc");
BENCHMARK(pair_from<UnsynchronizedSource>)->Name("vector225_pair_pmr_unsynchronized");
BENCHMARK(burst_from<UnsynchronizedSource>)->Name("vector225_burst_pmr_unsynchronized");
BENCHMARK(pair_from<SynchronizedSource>)->Name("vector225_pair_pmr_synchronized");
BENCHMARK(burst_from<SynchronizedSource>)->Name("vector225_burst_pmr_synchronized");
}  // namespace
}  // namespace drey::bench
