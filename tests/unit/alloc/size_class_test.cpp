// size_class_test.cpp: the class of every size against a table made the naive way.
// SPDX-License-Identifier: MIT
#include "core/size_class.hpp"

#include "core/slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace drey::core {
namespace {

/// The block sizes as their description says, smallest first; index 0 is the empty request.
std::vector<std::size_t> described_sizes() {
  std::vector<std::size_t> sizes = {0};
  for (std::size_t size = 16; size <= 1024; size += 16) sizes.push_back(size);
  for (std::size_t octave = 1024; octave < 1048576; octave *= 2) {
    for (std::size_t step = 1; step <= 8; ++step) sizes.push_back(octave + step * octave / 8);
  }
  return sizes;
}

TEST(SizeClass, TheTableIsTheOneDescribed) {
  const std::vector<std::size_t> sizes = described_sizes();
  ASSERT_EQ(sizes.size(), kClassCount);
  for (std::size_t index = 1; index < kClassCount; ++index) {
    EXPECT_EQ(size_of(static_cast<SizeClass>(index)), sizes[index]) << "class " << index;
  }
}

TEST(SizeClass, EverySizeGetsTheSmallestClassThatHoldsIt) {
  const std::vector<std::size_t> sizes = described_sizes();
  for (std::size_t size = 0; size <= 1048576; size += size < 70000 ? 1 : 13) {
    const auto smallest = std::lower_bound(sizes.begin(), sizes.end(), size) - sizes.begin();
    ASSERT_EQ(index_of(class_of(size)), static_cast<std::size_t>(smallest)) << size << " bytes";
  }
}

TEST(SizeClass, ARequestOfNothingIsClassZero) {
  EXPECT_EQ(index_of(class_of(0)), 0u);
}

TEST(SizeClass, TwoHundredTwentyFiveFloatsGetNineHundredTwelveBytes) {
  EXPECT_EQ(size_of(class_of(900)), 912u);
}

TEST(SizeClass, AtMostAnEighthIsLostAboveOneKibibyte) {
  for (std::size_t size = kSmallSizeMax + 1; size <= kMediumSizeMax; ++size) {
    ASSERT_LE(size_of(class_of(size)) - size, size / 8) << size << " bytes";
  }
}

TEST(SizeClass, AlignmentIsFoundByTheSmallestClassThatIsAMultipleOfIt) {
  const std::vector<std::size_t> sizes = described_sizes();
  for (std::size_t alignment = 1; alignment <= 131072; alignment *= 2) {
    for (std::size_t size = 1; size <= 1100000; size += size < 2100    ? 1
                                                        : size < 70000 ? 97
                                                                       : 4999) {
      std::size_t expected = 0;
      for (std::size_t index = kClassCount; index-- > 1;) {
        if (sizes[index] >= size && sizes[index] % alignment == 0 && alignment <= 65536)
          expected = index;
      }
      ASSERT_EQ(index_of(aligned_class_of(size, alignment)), expected)
          << size << " bytes on " << alignment;
    }
  }
}

TEST(SizeClass, AWholeSliceAlignedOnASliceHasAClass) {
  EXPECT_EQ(size_of(aligned_class_of(1, 65536)), 65536u);
  EXPECT_EQ(size_of(aligned_class_of(65536, 65536)), 65536u);
}

TEST(SizeClass, SlabsHoldEightBlocksAndWasteLittleOrHoldOne) {
  for (std::size_t index = 1; index < kClassCount; ++index) {
    const auto size_class = static_cast<SizeClass>(index);
    const std::size_t bytes = slab_slices_of(size_class) * kSliceBytes;
    if (size_of(size_class) > kSharedSlabBlockMax) {
      EXPECT_EQ(bytes / size_of(size_class), 1u) << "class " << index;
      EXPECT_LT(bytes - size_of(size_class), kSliceBytes) << "class " << index;
      continue;
    }
    EXPECT_GE(bytes / size_of(size_class), 8u) << "class " << index;
    EXPECT_LE(bytes % size_of(size_class), bytes / 8) << "class " << index;
  }
}

}  // namespace
}  // namespace drey::core
