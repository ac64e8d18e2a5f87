// vector_pool_batches.cpp: a pool that grows, a training batch taken in one call, an observation that
// two parts of a program share, and a reference that knows when its observation is gone.
//
// Build: g++ -std=c++20 vector_pool_batches.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>
#include <drey/pools/vector_pool_resource.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory_resource>
#include <numeric>

int main() {
  // Room for 1,000 vectors at first; doubled when they are out, up to 100,000.
  drey::VectorPool225 pool({.capacity = 1'000, .capacity_max = 100'000});

  // 128 vectors for one call; they go back together at the brace.
  double sum = 0;
  {
    const drey::VectorBatch batch = pool.take_batch(drey::VectorBatch::kRoom);
    for (std::size_t row = 0; row < batch.count(); ++row) {
      std::ranges::fill(batch[row].values(), static_cast<float>(row));
      const auto lanes = batch[row].lanes();  // 225 values and 15 zeros
      sum += std::accumulate(lanes.begin(), lanes.end(), 0.0);
    }
  }

  // Two holders in one thread: no atomic counting. For more threads: share_across_threads() first.
  drey::SharedVector replay(pool.take());
  drey::SharedVector display = replay;
  const drey::VectorRef ref = replay.ref();
  replay.reset();
  const bool was_there = pool.find(ref) == display.get();
  display.reset();
  const bool is_gone = pool.find(ref) == nullptr;

  // Storage: 900 bytes each, side by side.
  drey::PackedVectorPool225 archive(10'000);
  const auto stored = archive.take();

  // Nodes of a standard container in vectors of the pool.
  drey::VectorPoolResource resource(pool);
  std::pmr::list<double> rewards({1.0, 2.0, 3.0}, &resource);

  std::printf("sum %.0f; found while held: %d, gone afterwards: %d; %zu bytes apart\n", sum,
              was_there, is_gone, archive.stride_bytes());
  return sum == 225.0 * 127 * 128 / 2 && was_there && is_gone && stored && rewards.size() == 3
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}
