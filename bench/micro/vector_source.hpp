// vector_source.hpp: the two cases every source of 225-float vectors is put through.
//
// A source has `float* take()` and `void give_back(float*)`. Cases: a vector taken and given back,
// and 1,000 taken, then given back in random order. Only the first float is written: the source is
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
    float* vector = source.take();
    *static_cast<volatile float*>(vector) = 1.0F;
    source.give_back(vector);
  }
  report_pairs(state, 1);
}

template <typename Source>
void vector_burst(benchmark::State& state, Source& source) {
  const std::vector<std::size_t> order = shuffled_indices(1000);
  std::vector<float*> vectors(order.size());
  for (auto _ : state) {
    for (float*& vector : vectors) {
      vector = source.take();
      *static_cast<volatile float*>(vector) = 1.0F;
    }
    for (const std::size_t index : order) source.give_back(vectors[index]);
  }
  report_pairs(state, static_cast<double>(order.size()));
}
}  // namespace drey::bench
