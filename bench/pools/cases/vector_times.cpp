// vector_times.cpp: vectors taken and given back by one thread: one at a time, 256 at once, and in
// batches of 128 for those who have batches. Nothing is written to the vectors: it is the pool that
// is measured, not the memory.
// Read next: vector_threads.cpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/all_vector_ways.hpp"

#include <drey/alloc.h>

#include <array>

namespace drey::bench {
namespace {
constexpr std::size_t kBurst = 256;
constexpr std::size_t kBatch = 128;

template <class Way>
Figures pair(double seconds) {
  Way way;
  return cost_of(seconds, 1, [&way](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      typename Way::Handle handle = way.take();
      keep(Way::address(handle));
      way.give_back(handle);
    }
  });
}

/// All live at once, given back in the order they came.
template <class Way, std::size_t kLive>
Figures burst(double seconds) {
  Way way;
  std::array<typename Way::Handle, kLive> handles{};
  return cost_of(seconds, kLive, [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      for (auto& handle : handles) {
        handle = way.take();
        keep(Way::address(handle));
      }
      for (auto& handle : handles) way.give_back(handle);
    }
  });
}

/// drey's pool, 128 vectors a call.
Figures batches_of_vectors(double seconds) {
  VectorPool225 pool(kPoolVectors);
  return cost_of(seconds, kBatch, [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      VectorBatch batch = pool.take_batch(kBatch);
      if (batch.count() != kBatch) std::abort();
      keep(&batch);
    }
  });
}

/// drey's allocator, 128 blocks a call.
Figures batches_of_blocks(double seconds) {
  std::array<void*, kBatch> blocks{};
  return cost_of(seconds, kBatch, [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      if (drey_malloc_batch(kObservationBytes, blocks.data(), kBatch) != kBatch) std::abort();
      keep(blocks.data());
      drey_free_batch(blocks.data(), kBatch);
    }
  });
}
}  // namespace

void add_vector_times(PoolCaseList& cases) {
  for_each_way([&](const char* name, auto way) {
    cases.push_back({"vector", "vector/pair", name, pair<typename decltype(way)::type>});
  });
  for_each_way([&](const char* name, auto way) {
    cases.push_back(
        {"vector", "vector/burst_256", name, burst<typename decltype(way)::type, kBurst>});
  });
  cases.push_back({"vector", "vector/batch_128", kDreyWay, batches_of_vectors});
  for_each_other_way([&](const char* name, auto way) {
    cases.push_back(
        {"vector", "vector/batch_128", name, burst<typename decltype(way)::type, kBatch>});
  });
  cases.push_back({"vector", "vector/batch_128", "drey_malloc_batch", batches_of_blocks});
}
}  // namespace drey::bench
