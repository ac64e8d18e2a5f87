// two_sites.cpp: takes known amounts in two functions and keeps them; "free" gives back the second's.
// For the profile and the leak report: what each says of it is known beforehand.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <unistd.h>

namespace {
constexpr std::size_t kBlockBytes = 1008;
constexpr std::size_t kFirstCount = 65536;
constexpr std::size_t kSecondCount = 16384;
std::vector<void*>* first_blocks;
std::vector<void*>* second_blocks;
}  // namespace

extern "C" {
__attribute__((noinline)) void first_site() {
  for (std::size_t i = 0; i < kFirstCount; ++i) first_blocks->push_back(std::malloc(kBlockBytes));
  asm volatile("# first" ::: "memory");
}
__attribute__((noinline)) void second_site() {
  for (std::size_t i = 0; i < kSecondCount; ++i) second_blocks->push_back(std::malloc(kBlockBytes));
  asm volatile("# second" ::: "memory");
}
}

int main(int argc, char** argv) {
  // Never freed, and reachable to the end: live at exit, and no leak.
  first_blocks = new std::vector<void*>;
  second_blocks = new std::vector<void*>;
  first_blocks->reserve(kFirstCount);
  second_blocks->reserve(kSecondCount);
  first_site();
  second_site();
  if (argc > 1 && std::strcmp(argv[1], "free") == 0) {
    for (void* const block : *second_blocks) std::free(block);
  }
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0 && fork() == 0) std::exit(0);
  if (argc > 1 && std::strcmp(argv[1], "quiet") == 0) std::fclose(stderr);
  std::puts("ok");
}
