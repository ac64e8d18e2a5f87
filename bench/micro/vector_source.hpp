// vector_source.hpp: the two cases every source of 225-float vectors is put through.
//
// A source has `void* take()` and `void give_back(void*)`. Cases: a vector taken and given back,
// and 1,000 taken, then given back in random order. Only the first byte is written: the source is
// measured, not the copying.
// Read next: vectors.cpp, vector_pool.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "micro/measure.hpp"

namespace drey::bench {
inline constexpr std::size_t kVectorBytes = 225 * sizeof(float);

template <typename Source>
void vector_pair(benchmark::State& state, Source& source) {
  for (auto _ : state) {
    void* vector = source.take();
    touch_first_byte(vector);
    source.give_back(vector);
  }
  report_pairs(state, 1);
}

template <typename Source>
void vector_burst(benchmark::State& state, Source& source) {
  const std::vector<std::size_t> order = shuffled_indices(1000);
  std::vector<void*> vectors(order.size());
  const auto run = [&] {
    for (void*& vector : vectors) {
      vector = source.take();
      touch_first_byte(vector);
    }
    for (const std::size_t index : order) source.give_back(vectors[index]);
  };
  run();  // to warm up
  for (auto _ : state) run();
  report_pairs(state, static_cast<double>(order.size()));
}
}  // namespace drey::bench
