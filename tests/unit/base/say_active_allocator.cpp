// say_active_allocator.cpp: prints the active allocator, a line each: name, version, how.
// The subject of active_allocator_test, linked and preloaded in every way there is.
// SPDX-License-Identifier: MIT
#include <drey/base/active_allocator.hpp>

#include <cstdio>

int main() {
  const drey::ActiveAllocator active = drey::active_allocator();
  std::printf("%s\n%s\n%s\n", active.name, active.version.c_str(), active.how.c_str());
  return 0;
}
