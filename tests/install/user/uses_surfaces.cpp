// uses_surfaces.cpp: heaps, containers in them, batches, and hits inlined from the installed header.
// DREY_USER_INLINE, where it is defined, says whether the hit must be inlined: with the archives it
// is, with the library it is not.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#include <drey/alloc/fixed.hpp>
#include <drey/alloc/memory_resource.hpp>

#include <array>
#include <string>
#include <vector>

#if defined(DREY_USER_INLINE)
static_assert(drey::detail::kHitIsInline == (DREY_USER_INLINE != 0));
#endif

int main() {
  drey::Heap heap;
  drey::HeapResource resource(heap);
  std::pmr::vector<std::pmr::string> words(100, std::pmr::string(100, 'w'), &resource);
  std::array<void*, 100> blocks;
  bool right = heap.owns(words.data()) && drey_malloc_batch(900, blocks.data(), 100) == 100;
  drey_free_batch(blocks.data(), blocks.size());
  for (int round = 0; round < 10'000; ++round) {
    void* const block = drey::allocate_fixed<900>();
    right = right && drey_owns(block);
    drey::deallocate_fixed<900>(block);
  }
  return right ? 0 : 1;
}
