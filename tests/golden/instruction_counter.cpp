// instruction_counter.cpp: counts the instructions of malloc and free hits, exactly.
//
//   instruction_counter LIBRARY      prints "malloc SIZE COUNT" and "free SIZE COUNT" lines
// It runs itself with LIBRARY preloaded, stops the copy at each mark (int3) and single-steps it to
// the next one; what lies in the library's own text is counted. So the numbers depend on neither
// the machine nor its load. Each pair is measured five times, warm; the least is printed.
// Read next: fast_path_golden.py.
// SPDX-License-Identifier: MIT
#include "golden/single_step.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <signal.h>
#include <sys/wait.h>

using namespace drey::test;  // NOLINT(google-build-using-namespace): marks and steps

namespace {
constexpr std::array<std::size_t, 11> kSizes = {16, 32, 48, 64, 128, 256, 384, 512, 768, 900, 1024};
constexpr int kRounds = 5;

/// What the traced copy does: three marks a round, around one malloc and one free.
int be_the_subject() {
  for (const std::size_t size : kSizes) {
    std::array<void*, 40> neighbours;
    for (void*& block : neighbours) block = hide(std::malloc(size));
    for (std::size_t i = 0; i < neighbours.size(); i += 2) std::free(neighbours[i]);
    for (int round = 0; round < kRounds; ++round) {
      mark();
      void* const block = hide(std::malloc(size));
      mark();
      std::free(block);
      mark();
    }
    for (std::size_t i = 1; i < neighbours.size(); i += 2) std::free(neighbours[i]);
  }
  return 0;
}
}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) fail("expected one argument: the library");
  if (std::strcmp(arguments[1], "--subject") == 0) return be_the_subject();
  const pid_t process = start(arguments[0], arguments[1]);
  Range text;
  for (const std::size_t size : kSizes) {
    long malloc_least = -1;
    long free_least = -1;
    for (int round = 0; round < kRounds; ++round) {
      run_to_next_mark(process);
      if (text.end == 0) text = text_of(process, arguments[1]);
      if (text.end == 0) fail("the library is not loaded in the traced copy");
      const long malloc_count = count_to_next_mark(process, text);
      const long free_count = count_to_next_mark(process, text);
      if (malloc_least < 0 || malloc_count < malloc_least) malloc_least = malloc_count;
      if (free_least < 0 || free_count < free_least) free_least = free_count;
    }
    std::printf("malloc %zu %ld\nfree %zu %ld\n", size, malloc_least, size, free_least);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return 0;
}
