// batch_buffers_test.cpp: one block, arrays on cache lines, zero tails, growth only.
// SPDX-License-Identifier: MIT
#include <drey/pools/batch_buffers.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace drey {
namespace {
void expect_arrays_apart(BatchBuffers& batch) {
  const std::size_t rows = batch.rows();
  const std::array<std::pair<const void*, std::size_t>, 6> arrays = {{
      {batch.states().data, rows * batch.state_stride() * sizeof(float)},
      {batch.next_states().data, rows * batch.state_stride() * sizeof(float)},
      {batch.weights().data(), rows * sizeof(float)},
      {batch.rewards().data(), rows * sizeof(float)},
      {batch.actions().data(), rows * sizeof(std::int32_t)},
      {batch.done().data(), rows},
  }};
  const std::byte* end = batch.data();
  for (const auto& [begin, bytes] : arrays) {
    EXPECT_TRUE(is_aligned(begin, 64));
    EXPECT_EQ(begin, end) << "no gap but the rounding to a cache line";
    end = static_cast<const std::byte*>(begin) + align_up(bytes, 64);
  }
  EXPECT_EQ(end, batch.data() + batch.bytes());
}

TEST(BatchBuffers, LaysItsArraysOutInOneBlock) {
  for (const RowForm form : {RowForm::kPadded, RowForm::kPacked}) {
    BatchBuffers batch(form);
    for (const std::size_t rows : {1, 2, 127, 128, 1000}) {
      ASSERT_TRUE(batch.resize(rows));
      EXPECT_EQ(batch.rows(), rows);
      EXPECT_EQ(batch.state_stride(), form == RowForm::kPadded ? 240U : 225U);
      expect_arrays_apart(batch);
      EXPECT_TRUE(batch.invariants_hold());
    }
  }
}

TEST(BatchBuffers, KeepsTheLanesBehindTheValuesZero) {
  BatchBuffers batch;
  for (const std::size_t rows : {64, 128, 100}) {
    ASSERT_TRUE(batch.resize(rows));
    for (const BatchRows& matrix : {batch.states(), batch.next_states()}) {
      for (std::size_t row = 0; row < rows; ++row) {
        const float* const values = matrix.data + row * matrix.stride;
        EXPECT_TRUE(is_aligned(values, 64));
        ASSERT_EQ(std::count(values + 225, values + 240, 0.0F), 15) << rows << " rows, row " << row;
      }
    }
    std::memset(batch.data(), 0x7F, batch.bytes());  // what a user may leave there
  }
}

TEST(BatchBuffers, GrowsOnly) {
  BatchBuffers batch;
  ASSERT_TRUE(batch.resize(128));
  const std::byte* const block = batch.data();
  const std::size_t reserved_bytes = batch.reserved_bytes();
  for (const std::size_t rows : {1, 128, 0, 64, 127}) {
    ASSERT_TRUE(batch.resize(rows));
    EXPECT_EQ(batch.data(), block);
    EXPECT_EQ(batch.reserved_bytes(), reserved_bytes);
    EXPECT_LE(batch.bytes(), reserved_bytes);
  }
  ASSERT_TRUE(batch.resize(129));
  EXPECT_GT(batch.reserved_bytes(), reserved_bytes);
}

TEST(BatchBuffers, RefusesWhatCannotBeAndStaysAsItWas) {
  BatchBuffers batch;
  ASSERT_TRUE(batch.resize(4));
  batch.rewards()[3] = 7.0F;
  for (const std::size_t rows : {SIZE_MAX, SIZE_MAX / 960, SIZE_MAX / 960 / 2, SIZE_MAX / 4000}) {
    EXPECT_FALSE(batch.resize(rows)) << rows;
  }
  EXPECT_EQ(batch.rows(), 4U);
  EXPECT_EQ(batch.rewards()[3], 7.0F);
  for (const std::size_t values : {std::size_t{0}, SIZE_MAX, SIZE_MAX - 3}) {
    BatchBuffers none(RowForm::kPadded, values);
    EXPECT_FALSE(none.resize(1)) << values;
    EXPECT_FALSE(none.resize(0)) << values;
    EXPECT_TRUE(none.invariants_hold());
  }
}

/// What a backing was told: the bytes that are open now.
struct Pinned {
  std::size_t bytes = 0;
  bool refuses = false;
};

TEST(BatchBuffers, TellsItsBackingOfEachBlock) {
  Pinned pinned;
  VectorBacking backing;
  backing.context = &pinned;
  backing.open = [](void* begin, std::size_t bytes, void* context) noexcept {
    auto* const told = static_cast<Pinned*>(context);
    if (told->refuses) return false;
    told->bytes += bytes;
    return begin != nullptr;
  };
  backing.close = [](void* /*begin*/, std::size_t bytes, void* context) noexcept {
    static_cast<Pinned*>(context)->bytes -= bytes;
  };
  {
    BatchBuffers batch(RowForm::kPadded, 225, backing);
    ASSERT_TRUE(batch.resize(10));
    ASSERT_TRUE(batch.resize(100));
    EXPECT_EQ(pinned.bytes, batch.reserved_bytes());
    pinned.refuses = true;
    EXPECT_FALSE(batch.resize(101));
    EXPECT_EQ(batch.rows(), 100U);
    EXPECT_TRUE(batch.resize(50));
  }
  EXPECT_EQ(pinned.bytes, 0U);
}

TEST(BatchBuffers, IsEmptyWithoutRows) {
  BatchBuffers batch;
  EXPECT_EQ(batch.bytes(), 0U);
  ASSERT_TRUE(batch.resize(0));
  EXPECT_TRUE(batch.weights().empty() && batch.done().empty());
}

TEST(BatchBuffers, IsFilledByGatherAndCopiedWhole) {
  std::mt19937_64 random = seeded_random(5);
  std::vector<float> matrix(std::size_t{500} * 225);
  for (float& value : matrix) value = static_cast<float>(below(random, 1000));
  std::vector<std::uint32_t> rows(128);
  for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(below(random, 500));
  BatchBuffers batch;
  ASSERT_TRUE(batch.resize(rows.size()));
  const MatrixRows source{matrix.data(), 500, 225, 225};
  ASSERT_EQ(gather(rows, source, batch.states()), GatherResult::kDone);
  ASSERT_EQ(gather(rows, source, batch.next_states()), GatherResult::kDone);
  // What one copy to a device would bring there.
  std::vector<float> copy(batch.bytes() / sizeof(float));
  std::memcpy(copy.data(), batch.data(), batch.bytes());
  const float* const next_states = copy.data() + batch.layout().next_states / sizeof(float);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* const row = matrix.data() + std::size_t{rows[i]} * 225;
    EXPECT_TRUE(std::equal(row, row + 225, next_states + i * batch.state_stride()));
    EXPECT_TRUE(std::equal(row, row + 225, batch.state(i).data()));
  }
}
}  // namespace
}  // namespace drey
