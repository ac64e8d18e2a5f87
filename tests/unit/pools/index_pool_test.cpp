// index_pool_test.cpp: which places are free, by one thread; and the same against a plain model.
//
// Method: the pool over a plain array of links; after each step of a random walk its counts equal
// those of a std::vector of free places. The threads are in vector_pool_threads_test.cpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/index_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace drey {
namespace {
class TestIndexPool {
 public:
  explicit TestIndexPool(std::size_t capacity)
      : links_(std::make_unique<IndexPool::Link[]>(capacity)), pool_(links_.get(), capacity) {}
  IndexPool& operator*() { return pool_; }
  IndexPool* operator->() { return &pool_; }

 private:
  std::unique_ptr<IndexPool::Link[]> links_;
  IndexPool pool_;
};

TEST(IndexPool, HandsOutEveryPlaceOnceInOrderThenNone) {
  TestIndexPool pool(5);
  for (std::uint32_t expected = 0; expected < 5; ++expected) EXPECT_EQ(pool->take(), expected);
  EXPECT_EQ(pool->take(), IndexPool::kNone);
  EXPECT_EQ(pool->take(), IndexPool::kNone);
  EXPECT_EQ(pool->counts().exhausted_count, 2U);
  EXPECT_TRUE(pool->invariants_hold());
}

TEST(IndexPool, ReusesTheLastPlaceGivenBackBeforeAFreshOne) {
  TestIndexPool pool(5);
  ASSERT_EQ(pool->take(), 0U);
  ASSERT_EQ(pool->take(), 1U);
  ASSERT_EQ(pool->give_back(0), GiveBackResult::kDone);
  ASSERT_EQ(pool->give_back(1), GiveBackResult::kDone);
  EXPECT_EQ(pool->take(), 1U);
  EXPECT_EQ(pool->take(), 0U);
  EXPECT_EQ(pool->take(), 2U);
}

TEST(IndexPool, RefusesAPlaceNeverTaken) {
  TestIndexPool pool(5);
  EXPECT_EQ(pool->give_back(0), GiveBackResult::kNeverTaken);
  ASSERT_EQ(pool->take(), 0U);
  EXPECT_EQ(pool->give_back(1), GiveBackResult::kNeverTaken);
  EXPECT_EQ(pool->counts().taken, 1U);
  EXPECT_TRUE(pool->invariants_hold());
}

TEST(IndexPool, RefusesAPlaceGivenBackTwiceWhereverItIsInTheStack) {
  TestIndexPool pool(3);
  for (int i = 0; i < 3; ++i) ASSERT_NE(pool->take(), IndexPool::kNone);
  for (std::uint32_t index = 0; index < 3; ++index) {
    ASSERT_EQ(pool->give_back(index), GiveBackResult::kDone);
  }
  for (std::uint32_t index = 0; index < 3; ++index) {
    EXPECT_EQ(pool->give_back(index), GiveBackResult::kAlreadyFree);
  }
  EXPECT_EQ(pool->counts().give_back_count, 3U);
  EXPECT_TRUE(pool->invariants_hold());
}

TEST(IndexPool, WithoutCapacityIsExhausted) {
  IndexPool pool(nullptr, 0);
  EXPECT_EQ(pool.take(), IndexPool::kNone);
  EXPECT_EQ(pool.counts().exhausted_count, 1U);
  EXPECT_TRUE(pool.invariants_hold());
}

/// The pool as a reader would write it without threads in mind.
struct Model {
  std::vector<std::uint32_t> free;
  std::vector<std::uint32_t> taken;
  std::uint32_t carved = 0;
  IndexPoolCounts counts{};

  std::uint32_t take(std::size_t capacity) {
    std::uint32_t index = IndexPool::kNone;
    if (!free.empty()) {
      index = free.back();
      free.pop_back();
    } else if (carved < capacity) {
      index = carved++;
    } else {
      ++counts.exhausted_count;
      return index;
    }
    taken.push_back(index);
    ++counts.take_count;
    counts.taken = taken.size();
    counts.taken_peak = std::max<std::uint64_t>(counts.taken_peak, taken.size());
    return index;
  }
  std::uint32_t give_back(std::size_t which) {
    std::swap(taken[which], taken.back());
    const std::uint32_t index = taken.back();
    taken.pop_back();
    free.push_back(index);
    ++counts.give_back_count;
    counts.taken = taken.size();
    return index;
  }
};

TEST(IndexPool, AgreesWithAPlainModelOnARandomWalk) {
  constexpr std::size_t kCapacity = 37;
  constexpr std::uint32_t kSeed = 225;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  TestIndexPool pool(kCapacity);
  Model model;
  for (int step = 0; step < 20'000; ++step) {
    // Long runs of one kind, so that both ends are reached often.
    const bool take = random() % 16 < ((step / 200) % 2 == 0 ? 11U : 5U);
    if (take || model.taken.empty()) {
      ASSERT_EQ(pool->take(), model.take(kCapacity)) << "step " << step;
    } else {
      const std::uint32_t index = model.give_back(random() % model.taken.size());
      ASSERT_EQ(pool->give_back(index), GiveBackResult::kDone) << "step " << step;
    }
    const IndexPoolCounts counts = pool->counts();
    ASSERT_EQ(counts.taken, model.counts.taken) << "step " << step;
    ASSERT_EQ(counts.taken_peak, model.counts.taken_peak) << "step " << step;
    ASSERT_EQ(counts.take_count, model.counts.take_count) << "step " << step;
    ASSERT_EQ(counts.give_back_count, model.counts.give_back_count) << "step " << step;
    ASSERT_EQ(counts.exhausted_count, model.counts.exhausted_count) << "step " << step;
    ASSERT_TRUE(pool->invariants_hold()) << "step " << step;
  }
  EXPECT_GT(model.counts.exhausted_count, 0U) << "the walk never filled the pool";
}

}  // namespace
}  // namespace drey
