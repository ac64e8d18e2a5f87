// ring_buffer_test.cpp: rings against std::deque, lives counted; the two-thread ring in two threads.
// SPDX-License-Identifier: MIT
#include <drey/pools/ring_buffer.hpp>
#include <drey/pools/spsc_ring.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace drey {
namespace {
TEST(RingBuffer, ReplacesTheOldestWhenFull) {
  RingBuffer<int, 3> ring;
  for (int i = 0; i < 5; ++i) ring.push(i);
  EXPECT_TRUE(ring.is_full());
  EXPECT_EQ(ring.oldest(), 2);
  EXPECT_EQ(ring.newest(), 4);
  EXPECT_FALSE(ring.try_push(9));
  int value = 0;
  EXPECT_TRUE(ring.try_pop(value));
  EXPECT_EQ(value, 2);
  EXPECT_TRUE(ring.try_push(9));
}

TEST(RingBuffer, HoldsOneValueOrNone) {
  RingBuffer<int, 1> ring;
  int value = 5;
  EXPECT_FALSE(ring.try_pop(value));
  EXPECT_EQ(value, 5);
  ring.push(1);
  ring.push(2);
  EXPECT_TRUE(ring.try_pop(value));
  EXPECT_EQ(value, 2);
  EXPECT_TRUE(ring.is_empty());
}

TEST(RingBuffer, ShowsItsHalvesInOrder) {
  RingBuffer<int, 5> ring;
  for (int pushed = 0; pushed < 23; ++pushed) {
    ring.push(pushed);
    std::vector<int> seen(ring.first_half().begin(), ring.first_half().end());
    seen.insert(seen.end(), ring.second_half().begin(), ring.second_half().end());
    std::vector<int> expected(ring.size());
    std::iota(expected.begin(), expected.end(), pushed + 1 - static_cast<int>(ring.size()));
    EXPECT_EQ(seen, expected);
    EXPECT_TRUE(ring.second_half().empty() || ring.first_half().data() != nullptr);
  }
}

TEST(RingBuffer, LivesWithinTheObject) {
  RingBuffer<std::uint64_t, 64> ring;
  ring.push(1U);
  const auto* const value = reinterpret_cast<const std::byte*>(&ring.oldest());
  const auto* const begin = reinterpret_cast<const std::byte*>(&ring);
  EXPECT_TRUE(value >= begin && value < begin + sizeof(ring));
}

TEST(RingBuffer, EndsEachValueOnce) {
  const auto witness = std::make_shared<int>(0);
  {
    RingBuffer<std::shared_ptr<int>, 4> ring;
    for (int i = 0; i < 10; ++i) ring.push(witness);
    EXPECT_EQ(witness.use_count(), 5);
    std::shared_ptr<int> taken;
    EXPECT_TRUE(ring.try_pop(taken));
    EXPECT_EQ(witness.use_count(), 5);
    ring.drop_oldest();
    EXPECT_EQ(witness.use_count(), 4);
    ring.clear();
    EXPECT_EQ(witness.use_count(), 2);
    ring.push(witness);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(RingBuffer, BehavesLikeADequeOfTheLastValues) {
  std::mt19937_64 random = seeded_random(3);
  RingBuffer<std::string, 17> ring;
  std::deque<std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string text = std::to_string(random());
    const std::size_t choice = below(random, 10);
    if (choice < 4) {
      ring.push(text);
      if (model.size() == 17) model.pop_front();
      model.push_back(text);
    } else if (choice < 6) {
      ASSERT_EQ(ring.try_push(text), model.size() < 17);
      if (model.size() < 17) model.push_back(text);
    } else if (choice < 9) {
      std::string value;
      ASSERT_EQ(ring.try_pop(value), !model.empty());
      if (model.empty()) continue;
      ASSERT_EQ(value, model.front());
      model.pop_front();
    } else if (below(random, 50) == 0) {
      ring.clear();
      model.clear();
    }
    ASSERT_EQ(ring.size(), model.size());
    for (std::size_t i = 0; i < model.size(); ++i) ASSERT_EQ(ring[i], model[i]);
    ASSERT_TRUE(ring.invariants_hold());
  }
}

#if defined(DREY_ASSERTS) && DREY_ASSERTS
TEST(RingBufferDeathTest, AssertsThatThereIsAValue) {
  RingBuffer<int, 2> ring;
  EXPECT_DEATH(ring.drop_oldest(), "assertion failed");
  EXPECT_DEATH(static_cast<void>(ring[0]), "assertion failed");
}
#endif

TEST(SpscRing, IsFullAtNValuesAndInOrder) {
  SpscRing<int, 4> ring;
  int value = 0;
  EXPECT_FALSE(ring.try_pop(value));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(i));
    EXPECT_FALSE(ring.try_push(4));
    EXPECT_EQ(ring.size(), 4U);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(ring.try_pop(value));
      EXPECT_EQ(value, i);
    }
    EXPECT_FALSE(ring.try_pop(value));
  }
}

TEST(SpscRing, EndsWhatIsLeftInIt) {
  const auto witness = std::make_shared<int>(0);
  {
    SpscRing<std::shared_ptr<int>, 8> ring;
    std::shared_ptr<int> taken;
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(ring.try_push(witness));
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(ring.try_pop(taken));
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(ring.try_push(witness));
    EXPECT_EQ(witness.use_count(), 10);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(SpscRing, BringsEveryValueAcrossOnceAndInOrder) {
  constexpr std::uint64_t kValues = 200'000;
  SpscRing<std::unique_ptr<std::uint64_t>, 64> ring;
  std::uint64_t wrong_count = 0;
  std::thread consumer([&] {
    std::unique_ptr<std::uint64_t> value;
    for (std::uint64_t expected = 0; expected < kValues;) {
      if (!ring.try_pop(value)) {
        std::this_thread::yield();
        continue;
      }
      wrong_count += *value == expected ? 0 : 1;
      ++expected;
    }
  });
  for (std::uint64_t sent = 0; sent < kValues;) {
    auto value = std::make_unique<std::uint64_t>(sent);
    while (!ring.try_push(std::move(value))) std::this_thread::yield();
    ++sent;
  }
  consumer.join();
  EXPECT_EQ(wrong_count, 0U);
  EXPECT_EQ(ring.size(), 0U);
}
}  // namespace
}  // namespace drey
