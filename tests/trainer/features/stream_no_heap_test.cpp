// stream_no_heap_test.cpp: a stream of features calls no allocator once it is made, not even where its
// bar length becomes known. Linked with a counting malloc.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <iostream>

#include "trainer/data/synthetic_bars.hpp"
#include "trainer/features/features.hpp"

extern "C" unsigned long long drey_heap_call_count();

namespace drey::trainer {
namespace {
TEST(FeatureStream, PushAndRowMakeNoHeapCall) {
  constexpr std::uint64_t kSeed = 17;
  std::cout << "seed " << kSeed << "\n";
  const BarSeries series = synthetic_bars(1'500, kSeed);
  FeatureStream stream;
  float sum = 0.0F;
  const unsigned long long before = drey_heap_call_count();
  for (const Bar& bar : series.bars) {
    if (stream.push(bar)) sum += stream.row()[3];
  }
  const unsigned long long after = drey_heap_call_count();
  EXPECT_EQ(after, before);
  EXPECT_NE(sum, 0.0F);
  const FeatureStream another;  // that the counter counts at all
  EXPECT_GT(drey_heap_call_count(), after);
}
}  // namespace
}  // namespace drey::trainer
