// fixed_core_test.cpp: the inlined hit leaves the core as the core's own hit does.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"
#include "core/thread_heap.hpp"

#include <drey/alloc/fixed.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace drey::core {
namespace {
TEST(FixedCore, CountsBlocksAsTheCoreDoes) {
  const std::size_t live_before = check_core().live_blocks;
  std::vector<void*> blocks(3000);
  for (void*& block : blocks) block = allocate_fixed<48>();
  CoreReport report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken;
  EXPECT_EQ(report.live_blocks, live_before + blocks.size());
  EXPECT_TRUE(heaps_are_consistent(true));
  for (std::size_t index = 0; index < blocks.size(); index += 2) {
    deallocate_fixed<48>(blocks[index]);
  }
  report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken;
  EXPECT_EQ(report.live_blocks, live_before + blocks.size() / 2);
  for (std::size_t index = 1; index < blocks.size(); index += 2) {
    deallocate_fixed<48>(blocks[index]);
  }
  report = check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken;
  EXPECT_EQ(report.live_blocks, live_before);
  EXPECT_LE(report.slab_bytes, 4 * kSliceBytes) << "emptied slabs went back";
}
}  // namespace
}  // namespace drey::core
