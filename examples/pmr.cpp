// pmr.cpp: std::pmr containers on drey: on the process's heap, and on one that ends with them.
//
// Build: g++ -std=c++20 pmr.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc/memory_resource.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

int main() {
  // Any thread, any time, like new and delete.
  std::pmr::vector<float> features(225, 0.5F, drey::memory_resource());

  // A heap of their own: near each other, and gone together.
  drey::Heap heap;
  if (!heap) return EXIT_FAILURE;
  drey::HeapResource resource(heap);
  std::pmr::map<int, std::pmr::string> names(&resource);
  for (int number = 0; number < 1000; ++number) {
    names[number] = "a name too long for the string's own buffer";
  }
  const bool inside = heap.owns(names[999].data()) && !heap.owns(features.data());
  const drey::HeapStats stats = heap.statistics();
  std::printf("%zu blocks in the heap, %zu bytes\n", stats.live_blocks, stats.live_bytes);
  return inside ? EXIT_SUCCESS : EXIT_FAILURE;
}
