// leaky_main.cpp: drey-train with a counter of heap calls that rises by itself, as if every look at
// it had found one: the program must then fail.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

extern "C" unsigned long long drey_heap_call_count() noexcept {
  static unsigned long long count = 0;
  return ++count;
}

int main(int argc, char** argv) {
  return trainer_main(argc, argv);
}
