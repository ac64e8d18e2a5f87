// gather_test.cpp: every copy against the scalar one and that against std::memcpy; what is refused.
//
// Matrix and batch end at the end of their memory, so that a read or write behind a row is found by
// the address sanitizer; canaries around the batch find it everywhere.
// SPDX-License-Identifier: MIT
#include <drey/pools/gather.hpp>
#include <drey/pools/gather_vectors.hpp>
#include <drey/pools/vector_pool.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace drey {
namespace {
constexpr float kCanary = -77.0F;

struct Free {
  void operator()(float* block) const noexcept { std::free(block); }
};

/// Floats from a cache line on, `offset` floats behind it, up to the end of the block.
class Floats {
 public:
  Floats(std::size_t count, std::size_t offset) : offset_(offset), count_(count) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, (count + offset) * sizeof(float)) != 0) std::abort();
    block_.reset(static_cast<float*>(block));
  }
  [[nodiscard]] float* data() const { return block_.get() + offset_; }
  [[nodiscard]] std::span<float> all() const { return {data(), count_}; }

 private:
  std::size_t offset_;
  std::size_t count_;
  std::unique_ptr<float, Free> block_;
};

[[nodiscard]] std::vector<CopyForm> forms_here() {
  std::vector<CopyForm> forms = {CopyForm::kScalar};
  if (best_copy_form() >= CopyForm::kAvx2) forms.push_back(CopyForm::kAvx2);
  if (best_copy_form() >= CopyForm::kAvx512) forms.push_back(CopyForm::kAvx512);
  return forms;
}

struct Shape {
  std::size_t values;
  std::size_t matrix_stride;
  std::size_t batch_stride;
  std::size_t batch_offset;  // floats from a cache line
};

void check(const Shape& shape, CopyForm copy, StoreForm store, std::mt19937_64& random) {
  const std::size_t matrix_rows = 1 + below(random, 40);
  const std::size_t count = below(random, 20);
  const Floats source(matrix_rows * shape.matrix_stride, 0);
  for (float& value : source.all()) value = static_cast<float>(below(random, 1 << 20)) + 1.0F;
  const Floats target((count + 1) * shape.batch_stride, shape.batch_offset);
  std::ranges::fill(target.all(), kCanary);
  std::vector<std::uint32_t> rows(count);
  for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(below(random, matrix_rows));
  const MatrixRows matrix{source.data(), matrix_rows, shape.values, shape.matrix_stride};
  const BatchRows batch{target.data(), count + 1, shape.batch_stride};
  ASSERT_EQ(gather_with(copy, store, rows, matrix, batch), GatherResult::kDone);
  for (std::size_t i = 0; i < count; ++i) {
    const float* const row = target.data() + i * shape.batch_stride;
    ASSERT_TRUE(std::equal(row, row + shape.values, source.data() + rows[i] * shape.matrix_stride));
    ASSERT_EQ(std::count(row + shape.values, row + shape.batch_stride, 0.0F),
              static_cast<std::ptrdiff_t>(shape.batch_stride - shape.values));
  }
  const float* const behind = target.data() + count * shape.batch_stride;
  ASSERT_EQ(std::count(behind, behind + shape.batch_stride, kCanary),
            static_cast<std::ptrdiff_t>(shape.batch_stride));
}

TEST(Gather, CopiesTheRowsOfAnObservationInEveryForm) {
  std::mt19937_64 random = seeded_random(225);
  for (const CopyForm copy : forms_here()) {
    for (const StoreForm store : {StoreForm::kCached, StoreForm::kStreamed}) {
      for (const std::size_t matrix_stride : {225, 240}) {
        for (const std::size_t batch_stride : {225, 240}) {
          for (int round = 0; round < 20; ++round)
            check({225, matrix_stride, batch_stride, 0}, copy, store, random);
        }
      }
    }
  }
}

TEST(Gather, CopiesRowsOfAnyLengthAndStride) {
  std::mt19937_64 random = seeded_random(226);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t values = 1 + below(random, 70);
    const Shape shape{values, values + below(random, 40), values + below(random, 40),
                      below(random, 16)};
    for (const CopyForm copy : forms_here()) {
      for (const StoreForm store : {StoreForm::kCached, StoreForm::kStreamed})
        check(shape, copy, store, random);
    }
    if (HasFatalFailure()) {
      FAIL() << shape.values << " values, strides " << shape.matrix_stride << " and "
             << shape.batch_stride << ", offset " << shape.batch_offset;
    }
  }
}

class GatherRefuses : public testing::Test {
 protected:
  GatherResult gather_rows(std::vector<std::uint32_t> rows) {
    return gather(rows, {source_.data(), 10, 225, 240}, {target_.data(), 4, 240});
  }
  [[nodiscard]] bool nothing_was_written() const {
    return std::ranges::count(target_.all(), kCanary) == std::ptrdiff_t{4} * 240;
  }
  void SetUp() override {
    std::ranges::fill(source_.all(), 1.0F);
    std::ranges::fill(target_.all(), kCanary);
  }

  Floats source_{std::size_t{10} * 240, 0};
  Floats target_{std::size_t{4} * 240, 0};
};

TEST_F(GatherRefuses, RowsThatTheMatrixDoesNotHave) {
  EXPECT_EQ(gather_rows({0, 9, 10}), GatherResult::kIndexOutOfRange);
  EXPECT_EQ(gather_rows({UINT32_MAX}), GatherResult::kIndexOutOfRange);
  EXPECT_EQ(gather(std::array<std::uint32_t, 1>{0}, {source_.data(), 0, 225, 240},
                   {target_.data(), 4, 240}),
            GatherResult::kIndexOutOfRange);
  EXPECT_TRUE(nothing_was_written());
}

TEST_F(GatherRefuses, MoreRowsThanTheBatchHasRoomFor) {
  EXPECT_EQ(gather_rows({0, 1, 2, 3, 4}), GatherResult::kBadShape);
  EXPECT_TRUE(nothing_was_written());
  EXPECT_EQ(gather_rows({0, 1, 2, 3}), GatherResult::kDone);
  EXPECT_FALSE(nothing_was_written());
}

TEST_F(GatherRefuses, StridesBelowTheValuesAndProductsThatOverflow) {
  const std::array<std::uint32_t, 2> rows = {0, 1};
  float* const from = source_.data();
  float* const to = target_.data();
  EXPECT_EQ(gather(rows, {from, 10, 225, 224}, {to, 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, 10, 225, 240}, {to, 4, 224}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, 10, 0, 240}, {to, 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {nullptr, 10, 225, 240}, {to, 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, 10, 225, 240}, {nullptr, 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, SIZE_MAX, 225, 240}, {to, 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, 10, 225, 240}, {to, SIZE_MAX / 4, 240}), GatherResult::kBadShape);
  EXPECT_EQ(gather(rows, {from, 2, 225, SIZE_MAX / 4}, {to, 4, 240}), GatherResult::kBadShape);
  EXPECT_TRUE(nothing_was_written());
}

TEST_F(GatherRefuses, ABatchThatLiesInTheMatrix) {
  const std::array<std::uint32_t, 2> rows = {0, 1};
  const MatrixRows matrix{source_.data(), 10, 225, 240};
  EXPECT_EQ(gather(rows, matrix, {source_.data(), 4, 240}), GatherResult::kOverlap);
  EXPECT_EQ(gather(rows, matrix, {source_.data() + std::size_t{9} * 240 + 239, 4, 240}),
            GatherResult::kOverlap);
  // Rows 0 to 4 are the matrix; the batch begins behind them.
  const MatrixRows first_half{source_.data(), 5, 225, 240};
  EXPECT_EQ(gather(rows, first_half, {source_.data() + std::size_t{5} * 240, 5, 240}),
            GatherResult::kDone);
}

TEST_F(GatherRefuses, NothingWhereThereIsNothingToDo) {
  EXPECT_EQ(gather_rows({}), GatherResult::kDone);
  EXPECT_EQ(gather({}, {nullptr, 0, 225, 225}, {nullptr, 0, 225}), GatherResult::kDone);
  EXPECT_TRUE(nothing_was_written());
}

TEST(Gather, FillsALargeBatchToo) {
  // Above kStreamBytes, so that it is streamed where the processor can.
  constexpr std::size_t kRows = kStreamBytes / sizeof(Vector225) + 100;
  const Floats source(std::size_t{64} * 225, 0);
  for (std::size_t i = 0; i < source.all().size(); ++i) source.all()[i] = static_cast<float>(i);
  const Floats target(kRows * 240, 0);
  std::vector<std::uint32_t> rows(kRows);
  for (std::size_t i = 0; i < kRows; ++i) rows[i] = static_cast<std::uint32_t>(i * 7 % 64);
  ASSERT_EQ(gather(rows, {source.data(), 64, 225, 225}, {target.data(), kRows, 240}),
            GatherResult::kDone);
  for (std::size_t i = 0; i < kRows; ++i) {
    const float* const row = target.data() + i * 240;
    ASSERT_TRUE(std::equal(row, row + 225, source.data() + std::size_t{rows[i]} * 225)) << i;
    ASSERT_EQ(std::count(row + 225, row + 240, 0.0F), 15);
  }
}
template <typename Pool>
void check_pool(std::mt19937_64& random) {
  constexpr std::size_t kVectors = 500;
  constexpr std::size_t kRows = 700;  // several blocks of rows
  Pool pool(kVectors);
  std::vector<typename Pool::PooledVector> vectors;
  for (std::size_t i = 0; i < kVectors; ++i) {
    vectors.push_back(pool.take());
    std::ranges::fill(vectors.back().values(), static_cast<float>(i));
  }
  std::vector<VectorRef> refs;
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < kRows; ++i) {
    expected.push_back(below(random, kVectors));
    refs.push_back(vectors[expected.back()].ref());
  }
  const Floats target(kRows * 240, 0);
  std::ranges::fill(target.all(), kCanary);
  const BatchRows batch{target.data(), kRows, 240};
  const VectorRef stale = vectors[7].ref();
  vectors[7].reset();
  std::vector<VectorRef> with_stale = refs;
  with_stale.back() = stale;
  EXPECT_EQ(gather(with_stale, pool, batch), GatherResult::kStaleReference);
  EXPECT_EQ(gather(std::vector<VectorRef>(1), pool, batch), GatherResult::kStaleReference);
  EXPECT_EQ(std::ranges::count(target.all(), kCanary), static_cast<std::ptrdiff_t>(kRows * 240));
  vectors[7] = pool.take();
  std::ranges::fill(vectors[7].values(), 7.0F);
  for (VectorRef& ref : refs) ref = ref == stale ? vectors[7].ref() : ref;
  EXPECT_EQ(gather(refs, pool, {target.data(), kRows - 1, 240}), GatherResult::kBadShape);
  ASSERT_EQ(gather(refs, pool, batch), GatherResult::kDone);
  for (std::size_t i = 0; i < kRows; ++i) {
    const float* const row = target.data() + i * 240;
    ASSERT_EQ(std::count(row, row + 225, static_cast<float>(expected[i])), 225) << i;
    ASSERT_EQ(std::count(row + 225, row + 240, 0.0F), 15) << i;
  }
}

TEST(Gather, CopiesVectorsOfAPoolByReference) {
  std::mt19937_64 random = seeded_random(12);
  check_pool<VectorPool225>(random);
  check_pool<PackedVectorPool225>(random);
}
}  // namespace
}  // namespace drey
