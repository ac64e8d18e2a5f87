// place_pool_test.cpp: which places are free, by one thread; and the same against a plain model.
//
// Method: after each step of a random walk the pool's counts equal those of a std::set of places
// that are out, in every size at which the inside works otherwise: without a cache, with a spare
// only, with stacks, with the shared list; with checks and without. Threads:
// vector_pool_threads_test.cpp.
// SPDX-License-Identifier: MIT
#include "support/seed.hpp"

#include <drey/pools/place_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace drey {
namespace {
/// Places of 64 bytes.
class TestPool {
 public:
  explicit TestPool(std::size_t capacity, VectorChecks checks = VectorChecks::kOff,
                    std::size_t capacity_max = 0)
      : memory_({64, 64, 64},
                {.capacity = capacity, .capacity_max = capacity_max, .checks = checks}),
        pool_(memory_) {}
  PlacePool& operator*() { return pool_; }
  PlacePool* operator->() { return &pool_; }
  [[nodiscard]] void* vector(std::uint32_t place) const { return memory_.vector(place); }
  [[nodiscard]] std::size_t opened() const { return memory_.opened(); }

 private:
  PoolMemory memory_;
  PlacePool pool_;
};

TEST(PlacePool, HandsOutEveryPlaceOnceInOrderThenNone) {
  for (const std::size_t capacity : {1, 5, 8, 200, 5000}) {
    TestPool pool(capacity);
    std::vector<TakenPlace> taken;
    for (std::uint32_t expected = 0; expected < capacity; ++expected) {
      taken.push_back(pool->take());
      ASSERT_EQ(taken.back().place, expected) << "of " << capacity;
    }
    EXPECT_EQ(pool->take().place, kNoPlace);
    EXPECT_EQ(pool->take().place, kNoPlace);
    EXPECT_EQ(pool->statistics().exhausted_count, 2U);
    EXPECT_TRUE(pool->invariants_hold());
    for (const TakenPlace& one : taken) pool->give_back(one);
    EXPECT_EQ(pool->statistics().taken, 0U);
    EXPECT_TRUE(pool->invariants_hold());
  }
}

TEST(PlacePool, ReusesTheLastPlaceGivenBackBeforeAFreshOne) {
  TestPool pool(5000);
  TakenPlace first = pool->take();
  const TakenPlace second = pool->take();
  pool->give_back(first);
  first = pool->take();
  EXPECT_EQ(first.place, 0U);
  pool->give_back(second);
  pool->give_back(first);
  EXPECT_EQ(pool->statistics().ever_taken, 2U);
}

TEST(PlacePool, WithoutCapacityIsExhausted) {
  TestPool pool(0);
  EXPECT_EQ(pool->take().place, kNoPlace);
  std::uint32_t places[3];
  EXPECT_EQ(pool->take_batch(places, 3), 0U);
  EXPECT_EQ(pool->statistics().exhausted_count, 4U);
  EXPECT_TRUE(pool->invariants_hold());
}

TEST(PlacePool, CountsTakesAndGiveBacksThroughTheWholeOfAState) {
  // A state has 16 bits; 40,000 pairs take it through zero, and the count goes on beside it.
  constexpr std::uint32_t kPairs = 40'000;
  TestPool pool(1);
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    const TakenPlace taken = pool->take();
    ASSERT_EQ(pool->generation(0), 2 * pair + 1);
    pool->give_back(taken);
  }
  EXPECT_EQ(pool->statistics().take_count, kPairs);
  EXPECT_EQ(pool->statistics().give_back_count, kPairs);
}

TEST(PlacePool, CountsABatchThroughZeroAsWell) {
  TestPool pool(8);
  std::uint32_t places[2] = {};
  for (std::uint32_t pair = 0; pair < 40'000; ++pair) {
    ASSERT_EQ(pool->take_batch(places, 2), 2U);
    pool->give_back_batch(places, 2);
  }
  EXPECT_EQ(pool->statistics().take_count, 80'000U);
  EXPECT_EQ(pool->generation(places[0]), 80'000U);
}

TEST(PlacePool, GrowsInStepsUpToItsLimit) {
  TestPool pool(10, VectorChecks::kOff, 1000);
  EXPECT_EQ(pool->capacity(), 1000U);
  EXPECT_EQ(pool.opened(), 10U);
  std::vector<TakenPlace> taken;
  for (int i = 0; i < 11; ++i) taken.push_back(pool->take());
  EXPECT_EQ(pool.opened(), 64U) << "the first step of a small pool";
  while (taken.size() < 1000) taken.push_back(pool->take());
  EXPECT_EQ(pool.opened(), 1000U);
  EXPECT_EQ(pool->take().place, kNoPlace);
  std::set<std::uint32_t> places;
  for (const TakenPlace& one : taken) {
    places.insert(one.place);
    pool->give_back(one);
  }
  EXPECT_EQ(places.size(), 1000U);
}

struct Walk {
  std::size_t capacity;
  VectorChecks checks;
};

/// A pool beside what it should be.
class WalkedPool {
 public:
  explicit WalkedPool(const Walk& walk)
      : capacity_(walk.capacity), pool_(walk.capacity, walk.checks) {}
  ~WalkedPool() {
    for (const TakenPlace& one : out_) pool_->give_back(one);
  }

  void take_one() {
    if (const TakenPlace taken = pool_->take(); taken.place != kNoPlace) {
      remember(taken);
    } else {
      ASSERT_EQ(out_.size(), capacity_) << "exhausted although not all are out";
      ++expected_.exhausted_count;
    }
  }

  void take_batch(std::size_t count) {
    std::vector<std::uint32_t> batch(count);
    const std::size_t got = pool_->take_batch(batch.data(), count);
    ASSERT_EQ(got, std::min(count, capacity_ - out_.size()));
    expected_.exhausted_count += count - got;
    for (std::size_t i = 0; i < got; ++i) {
      remember({batch[i], static_cast<std::uint16_t>(pool_->generation(batch[i]) - 1)});
    }
  }

  void give_back(std::size_t count, test::Random& random) {
    count = std::min(count, out_.size());
    std::vector<std::uint32_t> batch;
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(out_[random.below(out_.size())], out_.back());
      batch.push_back(out_.back().place);
      out_set_.erase(out_.back().place);
      if (count == 1) pool_->give_back(out_.back());
      out_.pop_back();
    }
    if (count != 1) pool_->give_back_batch(batch.data(), count);
    expected_.give_back_count += count;
  }

  void require_counts() {
    const VectorPoolStatistics counts = pool_->statistics();
    ASSERT_EQ(counts.taken, out_.size());
    ASSERT_EQ(counts.take_count, expected_.take_count);
    ASSERT_EQ(counts.give_back_count, expected_.give_back_count);
    ASSERT_EQ(counts.exhausted_count, expected_.exhausted_count);
  }

  [[nodiscard]] bool invariants_hold() { return pool_->invariants_hold(); }
  [[nodiscard]] std::uint64_t exhausted_count() const { return expected_.exhausted_count; }

 private:
  void remember(TakenPlace taken) {
    ASSERT_LT(taken.place, capacity_);
    ASSERT_TRUE(out_set_.insert(taken.place).second) << taken.place << " was out already";
    out_.push_back(taken);
    ++expected_.take_count;
  }

  std::size_t capacity_;
  TestPool pool_;
  std::vector<TakenPlace> out_;
  std::set<std::uint32_t> out_set_;
  VectorPoolStatistics expected_{};
};

class PlacePoolWalk : public testing::TestWithParam<Walk> {};

/// Singles and batches of random lengths; long runs of one kind, so that both ends are reached.
TEST_P(PlacePoolWalk, AgreesWithAPlainModel) {
  const std::size_t capacity = GetParam().capacity;
  test::Random random(test::test_seed(225 + capacity));
  WalkedPool pool(GetParam());
  const std::size_t run_length = 3 * capacity + 20;
  for (std::size_t step = 0; step < test::scaled(12'000); ++step) {
    const bool takes = random.below(16) < ((step / run_length) % 2 == 0 ? 11U : 5U);
    const std::size_t count = random.below(4) == 0 ? random.below(150) : 1;
    if (!takes) {
      pool.give_back(count, random);
    } else if (count == 1) {
      pool.take_one();
    } else {
      pool.take_batch(count);
    }
    pool.require_counts();
    ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    if (step % 16 != 0) continue;
    ASSERT_TRUE(pool.invariants_hold()) << "step " << step;
  }
  EXPECT_GT(pool.exhausted_count(), 0U) << "the walk never filled the pool";
}

INSTANTIATE_TEST_SUITE_P(Sizes, PlacePoolWalk,
                         testing::Values(Walk{1, VectorChecks::kOff}, Walk{3, VectorChecks::kOff},
                                         Walk{8, VectorChecks::kOff}, Walk{37, VectorChecks::kOff},
                                         Walk{300, VectorChecks::kOff},
                                         Walk{3000, VectorChecks::kOff}, Walk{1, VectorChecks::kOn},
                                         Walk{37, VectorChecks::kOn},
                                         Walk{300, VectorChecks::kOn}));
}  // namespace
}  // namespace drey
