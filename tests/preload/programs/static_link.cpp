// static_link.cpp: refers to everything in the C library's malloc.o, so that a missing name is a
// duplicate.
// Read next: ../library_file.py.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

extern "C" bool drey_owns(const void* pointer);

int main() {
  void* const block = std::malloc(1000);
  char* const text = strdup("sentence");
  if (!drey_owns(block) || !drey_owns(text) || malloc_usable_size(block) < 1000) return 1;
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  malloc_trim(0);
  if (mallinfo2().arena == ~std::size_t{0} || malloc_info(0, stdout) != 0) return 2;
  malloc_stats();
  std::free(valloc(10));
  std::free(pvalloc(10));
  std::free(memalign(64, 10));
  std::free(reallocarray(nullptr, 10, 10));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (std::size_t k = 1; k < 3000; ++k) std::string(k, 'x');
    });
  }
  for (auto& thread : threads) thread.join();
  std::free(block);
  std::free(text);
  std::puts("\nok");
}
