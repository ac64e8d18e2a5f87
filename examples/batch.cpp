// batch.cpp: a hundred observations in one call, and back in one call.
//
// Build: g++ -std=c++20 batch.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

int main() {
  std::array<void*, 100> observations;
  const std::size_t taken =
      drey_malloc_batch(225 * sizeof(float), observations.data(), observations.size());
  // Fewer than asked for only where memory ran out; what there is can be used.
  for (std::size_t index = 0; index < taken; ++index) {
    auto* const features = static_cast<float*>(observations[index]);
    for (int feature = 0; feature < 225; ++feature) features[feature] = 0.0F;
  }
  std::printf("took %zu of %zu\n", taken, observations.size());
  drey_free_batch(observations.data(), taken);
  return taken == observations.size() ? EXIT_SUCCESS : EXIT_FAILURE;
}
