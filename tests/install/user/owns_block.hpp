// owns_block.hpp: says in one line whose malloc this process runs on.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc.hpp>

#include <cstdio>
#include <cstdlib>

/// Returns: 0 if drey owns a block of malloc exactly when `expected`; else 1.
inline int check_owner(bool expected) {
  void* volatile block = std::malloc(900);
  const bool owned = drey_owns(block);
  std::free(block);
  std::printf("drey %s, malloc is %s\n", drey_version(), owned ? "drey's" : "another's");
  return owned == expected ? 0 : 1;
}
