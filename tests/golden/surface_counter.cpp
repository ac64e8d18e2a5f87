// surface_counter.cpp: counts the instructions of the other ways to a block: inlined hits of a fixed
// size, heaps of the program's own, batches.
//
//   surface_counter      prints "allocate_fixed SIZE COUNT" lines, and so on
// Everything between two marks in this program's own text is counted (drey is linked statically);
// batches are of 64 blocks, and their count is of all of them. Each is measured five times, warm;
// the least is printed.
// Read next: single_step.hpp, fast_path_golden.py.
// SPDX-License-Identifier: MIT
#include "golden/single_step.hpp"

#include <drey/alloc/heap.h>
#include <drey/alloc/fixed.hpp>

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>

using namespace drey::test;  // NOLINT(google-build-using-namespace): marks and steps

namespace {
constexpr int kRounds = 5;
constexpr std::size_t kBatch = 64;
constexpr std::array<const char*, 6> kCalls = {"allocate_fixed", "deallocate_fixed", "heap_malloc",
                                               "heap_free",      "malloc_batch",     "free_batch"};
using Blocks = std::array<void*, kBatch>;

/// One mark before each call of kCalls, one after the last.
template <std::size_t Size>
[[gnu::noinline]] void measure_once(drey_heap_t* heap, Blocks& blocks) {
  mark();
  void* block = hide(drey::allocate_fixed<Size>());
  mark();
  drey::deallocate_fixed<Size>(block);
  mark();
  block = hide(drey_heap_malloc(heap, Size));
  mark();
  drey_heap_free(heap, block);
  mark();
  const std::size_t taken = drey_malloc_batch(Size, blocks.data(), kBatch);
  mark();
  drey_free_batch(blocks.data(), taken);
  mark();
}

template <std::size_t Size>
void measure(drey_heap_t* heap) {
  Blocks blocks;
  // Blocks live on both sides of those measured, and a list that lasts for a batch.
  std::array<void*, 300> neighbours;
  for (void*& block : neighbours) block = hide(drey_malloc(Size));
  void* const in_heap = drey_heap_malloc(heap, Size);
  for (std::size_t i = 100; i < neighbours.size(); ++i) drey_free(neighbours[i]);
  for (int round = 0; round < kRounds; ++round) measure_once<Size>(heap, blocks);
  for (std::size_t i = 0; i < 100; ++i) drey_free(neighbours[i]);
  drey_heap_free(heap, in_heap);
}

int be_the_subject() {
  drey_heap_t* const heap = drey_heap_create();
  measure<16>(heap);
  measure<64>(heap);
  measure<225>(heap);
  drey_heap_destroy(heap);
  return 0;
}

void print_size(pid_t process, const Range& text, std::size_t size) {
  std::array<long, kCalls.size()> least;
  least.fill(LONG_MAX);
  for (int round = 0; round < kRounds; ++round) {
    run_to_next_mark(process);
    for (long& count : least) {
      // Less the mark at the end.
      const long counted = count_to_next_mark(process, text) - 1;
      if (counted < count) count = counted;
    }
  }
  for (std::size_t call = 0; call < kCalls.size(); ++call) {
    std::printf("%s %zu %ld\n", kCalls[call], size, least[call]);
  }
}
}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::strcmp(arguments[1], "--subject") == 0) return be_the_subject();
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0)
    fail("no path of its own");
  const pid_t process = start(arguments[0], nullptr);
  const Range text = text_of(process, program.data());
  if (text.end == 0) fail("no text of the traced copy");
  for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{225}}) {
    print_size(process, text, size);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return 0;
}
