// calls_drey.cpp: drey called by its own names, beside the process's malloc.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#include "owns_block.hpp"

#include <vector>

int main() {
  std::vector<float, drey::StdAllocator<float>> values(225, 1.5F);
  void* const block = drey::allocate(900, 64);
  const bool right = block != nullptr && drey_owns(block) && drey_owns(values.data());
  drey::deallocate(block);
  return right ? check_owner(false) : 1;
}
