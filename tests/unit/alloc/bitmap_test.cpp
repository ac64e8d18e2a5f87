// bitmap_test.cpp: the set of slices against std::vector<bool>, step by step and at random.
// SPDX-License-Identifier: MIT
#include "core/bitmap.hpp"

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace drey::core {
namespace {
constexpr std::size_t kBits = 320;  // several words, and no power of two
using TestBitmap = Bitmap<kBits>;

/// The same set twice: the bitmap, and what it must be equal to.
struct Twin {
  TestBitmap bitmap;
  std::vector<bool> model = std::vector<bool>(kBits);

  void set(std::size_t first, std::size_t count, bool value) {
    if (value) {
      bitmap.set_range(first, count);
    } else {
      bitmap.clear_range(first, count);
    }
    for (std::size_t index = first; index < first + count; ++index) model[index] = value;
  }
};

bool model_all_set(const std::vector<bool>& model, std::size_t first, std::size_t count) {
  for (std::size_t index = first; index < first + count; ++index) {
    if (!model[index]) return false;
  }
  return true;
}

std::size_t model_find_first(const std::vector<bool>& model, bool value, std::size_t from) {
  while (from < kBits && model[from] != value) ++from;
  return from < kBits ? from : TestBitmap::kNone;
}

std::size_t model_find_run(const std::vector<bool>& model, std::size_t count, std::size_t step,
                           std::size_t phase) {
  for (std::size_t first = phase; first + count <= kBits; first += step) {
    if (model_all_set(model, first, count)) return first;
  }
  return TestBitmap::kNone;
}

void expect_equal(Twin& twin, std::mt19937_64& random) {
  std::size_t count = 0;
  for (std::size_t index = 0; index < kBits; ++index) {
    ASSERT_EQ(twin.bitmap.test(index), twin.model[index]) << "bit " << index;
    count += twin.model[index] ? 1 : 0;
  }
  ASSERT_EQ(twin.bitmap.count(), count);
  ASSERT_EQ(twin.bitmap.empty(), count == 0);
  const std::size_t from = below(random, kBits + 1);
  ASSERT_EQ(twin.bitmap.find_first(true, from), model_find_first(twin.model, true, from));
  ASSERT_EQ(twin.bitmap.find_first(false, from), model_find_first(twin.model, false, from));
  const std::size_t first = below(random, kBits);
  const std::size_t length = below(random, kBits - first + 1);
  ASSERT_EQ(twin.bitmap.all_set(first, length), model_all_set(twin.model, first, length));
  for (std::size_t step = 1; step <= 64; step *= 2) {
    const std::size_t run = 1 + below(random, below(random, 4) == 0 ? kBits : 24);
    const std::size_t phase = below(random, step);
    ASSERT_EQ(twin.bitmap.find_run(run, step, phase), model_find_run(twin.model, run, step, phase))
        << run << " bits at " << phase << " modulo " << step;
  }
}

TEST(Bitmap, AgreesWithAVectorOfBoolsWhateverIsDoneToIt) {
  std::mt19937_64 random = seeded_random(1);
  Twin twin;
  for (int round = 0; round < 1500; ++round) {
    const std::size_t first = below(random, kBits);
    const std::size_t count = below(random, below(random, 8) == 0 ? kBits - first + 1 : 20);
    twin.set(first, first + count <= kBits ? count : kBits - first, below(random, 3) != 0);
    ASSERT_NO_FATAL_FAILURE(expect_equal(twin, random)) << "round " << round;
  }
}

TEST(Bitmap, AddsAndRemovesWholeSets) {
  std::mt19937_64 random = seeded_random(2);
  for (int round = 0; round < 50; ++round) {
    Twin one;
    Twin other;
    for (int stroke = 0; stroke < 12; ++stroke) {
      one.set(below(random, kBits - 40), below(random, 41), true);
      other.set(below(random, kBits - 40), below(random, 41), true);
    }
    TestBitmap sum = one.bitmap;
    sum.add(other.bitmap);
    TestBitmap difference = one.bitmap;
    difference.remove(other.bitmap);
    for (std::size_t index = 0; index < kBits; ++index) {
      ASSERT_EQ(sum.test(index), one.model[index] || other.model[index]);
      ASSERT_EQ(difference.test(index), one.model[index] && !other.model[index]);
    }
    sum.clear();
    ASSERT_TRUE(sum.empty());
  }
}

TEST(Bitmap, ARunMayReachTheLastBitAndNotBeyond) {
  TestBitmap bitmap;
  bitmap.set_range(kBits - 3, 3);
  EXPECT_EQ(bitmap.find_run(3, 1, 0), kBits - 3);
  EXPECT_EQ(bitmap.find_run(4, 1, 0), TestBitmap::kNone);
}

TEST(Bitmap, ARunOfEverythingIsFoundAtZero) {
  TestBitmap bitmap;
  bitmap.set_range(0, kBits);
  EXPECT_EQ(bitmap.find_run(kBits, 1, 0), 0u);
  EXPECT_EQ(bitmap.find_run(kBits, 64, 0), 0u);
  bitmap.clear_range(kBits - 1, 1);
  EXPECT_EQ(bitmap.find_run(kBits, 1, 0), TestBitmap::kNone);
}

}  // namespace
}  // namespace drey::core
