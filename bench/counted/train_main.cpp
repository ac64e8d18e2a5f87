// train_main.cpp: drey-train again, in a program whose heap calls are counted.
// Read next: heap_calls.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

int main(int argc, char** argv) {
  return trainer_main(argc, argv);
}
