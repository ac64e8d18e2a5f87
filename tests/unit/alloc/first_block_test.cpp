// first_block_test.cpp: whatever a process asks for first, it gets a block that can be given back.
//
// Method: a program of its own, without GoogleTest, whose first call is the one under test: one run
// for each size, given as the argument.
// SPDX-License-Identifier: MIT
#include <drey/alloc.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const std::size_t size = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  void* const first = drey_malloc(size);
  void* const second = drey_malloc(64);  // starts what the first may have left out
  const bool right = first != nullptr && drey_owns(first) && drey_usable_size(first) >= size;
  if (!right) std::fprintf(stderr, "a first block of %zu bytes is not known as one\n", size);
  drey_free(second);
  drey_free(first);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
