// beside_malloc.cpp: drey under its own names, while the process keeps the malloc it has.
//
// Build: g++ -std=c++20 beside_malloc.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

int main() {
  // A standard container on drey: only the allocator's type is different.
  std::vector<float, drey::StdAllocator<float>> features(225);
  std::iota(features.begin(), features.end(), 0.0F);

  // The same by hand: null instead of an exception, and the block's real size on request.
  void* const block = drey::allocate(900);
  if (block == nullptr) {
    std::perror("drey::allocate");
    return EXIT_FAILURE;
  }
  std::printf("asked for 900 bytes, may use %zu\n", drey::usable_bytes(block));
  const bool ours = drey_owns(block) && drey_owns(features.data());
  drey::deallocate(block);

  const drey::Stats stats = drey::statistics();
  std::printf("drey %s: %zu bytes in slabs, %zu in large blocks\n", drey_version(),
              stats.slab_bytes, stats.large_bytes);
  return ours ? EXIT_SUCCESS : EXIT_FAILURE;
}
