// heap.cpp: a request's memory in a heap of its own, gone in one call when the request is done.
//
// Build: g++ -std=c++20 heap.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc/heap.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
/// A request builds a list of words; nobody frees a word.
struct Word {
  Word* next;
  char text[24];
};

std::size_t serve(drey::Heap& heap, int request) {
  Word* words = nullptr;
  for (int count = 0; count < 1000; ++count) {
    auto* const word = static_cast<Word*>(heap.allocate(sizeof(Word)));
    if (word == nullptr) return 0;
    std::snprintf(word->text, sizeof(word->text), "%d of request %d", count, request);
    word->next = words;
    words = word;
  }
  std::size_t length = 0;
  for (const Word* word = words; word != nullptr; word = word->next)
    length += std::strlen(word->text);
  return length;
}
}  // namespace

int main() {
  drey::Heap heap;  // one thread at a time uses it
  if (!heap) return EXIT_FAILURE;
  std::size_t length = 0;
  for (int request = 0; request < 100; ++request) {
    length += serve(heap, request);
    if (request == 0) {
      const drey::HeapStats stats = heap.statistics();
      std::printf("a request: %zu blocks, %zu bytes\n", stats.live_blocks, stats.live_bytes);
    }
    heap.free_all();  // 1,000 blocks at the price of a slab
  }
  std::printf("100 requests, %zu characters, %zu blocks left\n", length,
              heap.statistics().live_blocks);
  return heap.statistics().live_blocks == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
