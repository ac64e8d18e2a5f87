// early_constructor.cpp: 10,000 blocks of a constructor of priority 101, freed in main.
// Read next: ../own_programs.py.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace {
constexpr std::size_t kBlocks = 10000;
char* blocks[kBlocks];

[[gnu::constructor(101)]] void allocate_early() {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks[i] = static_cast<char*>(std::malloc(1 + i));
    std::memset(blocks[i], static_cast<int>(i % 100), 1 + i);
  }
}
}  // namespace

int main() {
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (blocks[i][i] != static_cast<char>(i % 100)) return 1;
    std::free(blocks[i]);
  }
  std::cout << "ok" << std::endl;
}
