// early_test.cpp: allocation before main, before any constructor, and after main has returned.
// A program's .preinit_array runs before every constructor, the allocator's included; a
// constructor of priority 101 before the others. Whatever comes first must simply work.
// Invariant: what the early code did is recorded here and judged in the tests.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/child_process.hpp"

#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace drey::test {
namespace {
using Early = ConformanceTest;

constexpr std::size_t kEarlyBlocks = 10000;
void* blocks_of_constructor[kEarlyBlocks];
void* block_of_preinit = nullptr;
bool preinit_was_right = false;

void allocate_before_everything(int /*count*/, char** /*arguments*/, char** /*environment*/) {
  std::free(nullptr);
  void* const first = escape(std::malloc(100));
  void* const zeroed = escape(std::calloc(10, 10));
  void* const grown = escape(std::realloc(nullptr, 50));
  const bool all_there = first != nullptr && zeroed != nullptr && grown != nullptr;
  preinit_was_right = all_there && malloc_usable_size(nullptr) == 0 && all_zero(zeroed, 100) &&
                      malloc_usable_size(first) >= 100;
  std::free(zeroed);
  std::free(grown);
  fill_pattern(first, 100, 11);
  block_of_preinit = first;
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const preinit_entry)(int, char**, char**) = allocate_before_everything;

[[gnu::constructor(101)]] void allocate_in_an_early_constructor() {
  for (std::size_t i = 0; i < kEarlyBlocks; ++i) {
    const std::size_t size = 1 + i % 3000;
    blocks_of_constructor[i] = escape(std::malloc(size));
    if (blocks_of_constructor[i] != nullptr) fill_sparse(blocks_of_constructor[i], size, i);
  }
}

TEST_F(Early, EveryEntryPointWorksBeforeAnyConstructor) {
  ASSERT_TRUE(preinit_was_right);
  EXPECT_TRUE(check_pattern(block_of_preinit, 100, 11));
  std::free(block_of_preinit);
  block_of_preinit = nullptr;
}

TEST_F(Early, BlocksOfAnEarlyConstructorLiveOnInMain) {
  for (std::size_t i = 0; i < kEarlyBlocks; ++i) {
    ASSERT_NE(blocks_of_constructor[i], nullptr);
    ASSERT_TRUE(check_sparse(blocks_of_constructor[i], 1 + i % 3000, i)) << i;
    std::free(blocks_of_constructor[i]);
    blocks_of_constructor[i] = nullptr;
  }
}

void* block_for_exit = nullptr;

void allocate_at_exit() {
  std::free(block_for_exit);
  void* const block = escape(std::malloc(5000));
  std::memset(block, 1, 5000);
  std::free(block);
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, "late\n", 5);
}

TEST_F(Early, ExitHandlersMayAllocateAndFree) {
  const ChildResult child = run_forked([]() -> int {
    block_for_exit = escape(std::malloc(100));
    std::atexit(allocate_at_exit);
    std::exit(7);
  });
  EXPECT_EQ(child.exit_status, 7) << child.summary();
  EXPECT_EQ(child.output.substr(0, 5), "late\n") << child.summary();
}

[[gnu::destructor(101)]] void allocate_in_the_last_destructor() {
  void* const block = escape(std::malloc(777));
  std::memset(block, 2, 777);
  std::free(block);
}
}  // namespace
}  // namespace drey::test
