// memory_marks_child.cpp: touches memory that an arena or pool has not handed out, or has taken back,
// for Valgrind to find.
//
//   memory_marks_child none|rewound|behind|destroyed|unwritten
// Read next: CMakeLists.txt, which runs it.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena.hpp>
#include <drey/pools/object_pool.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  const std::string_view crime = arguments[1];
  drey::Arena arena;
  auto* const kept = static_cast<volatile char*>(arena.allocate(20));
  kept[19] = 1;
  const drey::ArenaMark mark = arena.mark();
  auto* const rewound = static_cast<volatile char*>(arena.allocate(100));
  rewound[0] = 1;
  arena.rewind(mark);
  drey::ObjectPool<long> pool(4);
  volatile long* const destroyed = pool.construct(1L);
  pool.destroy(const_cast<long*>(destroyed));

  if (crime == "rewound") rewound[0] = 2;
  if (crime == "behind") kept[20] = 2;
  if (crime == "destroyed") *destroyed = 2;
  if (crime == "unwritten" && kept[3] != 0) std::puts("something was there");
  return EXIT_SUCCESS;
}
