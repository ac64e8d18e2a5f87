// main.cpp: drey-train. Which allocator it runs on is decided when it is linked.
// SPDX-License-Identifier: MIT
#include "trainer/program/trainer_main.hpp"

int main(int argc, char** argv) {
  return trainer_main(argc, argv);
}
