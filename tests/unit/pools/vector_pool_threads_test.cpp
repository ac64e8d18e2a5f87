// vector_pool_threads_test.cpp: threads take and give back at once; no vector is ever held twice.
//
// Method: every holder fills its vector with a number of its own and finds it unchanged when it
// gives it back. Fixed numbers of operations, no sleeps; under the thread sanitizer the orders in
// place_cache.hpp are under test as well.
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace drey {
namespace {

void fill(const PooledVector& vector, float value) {
  std::ranges::fill(vector.values(), value);
}

[[nodiscard]] bool holds(const PooledVector& vector, float value) {
  return std::ranges::count(vector.values(), value) == 225;
}

TEST(VectorPoolThreads, NoVectorIsHeldTwice) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  constexpr std::size_t kHeldMax = 8;
  VectorPool225 pool(kThreads * kHeldMax / 2);  // half of what they want: exhaustion is common
  std::atomic<int> damaged_count{0};
  const auto work = [&](int thread) {
    std::mt19937 random(static_cast<std::uint32_t>(thread));  // the seed is the thread's number
    std::vector<std::pair<PooledVector, float>> held;
    for (int round = 0; round < kRounds; ++round) {
      if (held.size() < kHeldMax && random() % 2 == 0) {
        if (PooledVector vector = pool.take()) {
          const auto value = static_cast<float>(thread * kRounds + round);
          fill(vector, value);
          held.emplace_back(std::move(vector), value);
        }
      } else if (!held.empty()) {
        std::swap(held[random() % held.size()], held.back());
        if (!holds(held.back().first, held.back().second)) ++damaged_count;
        held.pop_back();
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged_count, 0);
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.statistics().take_count, pool.statistics().give_back_count);
  EXPECT_LE(pool.statistics().ever_taken, pool.capacity());
  EXPECT_TRUE(pool.invariants_hold());
}

/// A queue as a program between two stages has one: plain and locked.
class Mailbox {
 public:
  void put(PooledVector vector) {
    const std::lock_guard lock(mutex_);
    vectors_.push_back(std::move(vector));
  }
  [[nodiscard]] std::vector<PooledVector> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(vectors_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<PooledVector> vectors_;
};

TEST(VectorPoolThreads, VectorsTakenInOneThreadComeBackInAnother) {
  constexpr std::uint64_t kVectors = 20'000;
  VectorPool225 pool(16);
  Mailbox mailbox;
  std::uint64_t sum = 0;
  std::thread consumer([&] {
    for (std::uint64_t received = 0; received < kVectors;) {
      const std::vector<PooledVector> vectors = mailbox.take_all();
      if (vectors.empty()) std::this_thread::yield();
      for (const PooledVector& vector : vectors) {
        EXPECT_TRUE(holds(vector, vector->lanes()[0]));
        sum += static_cast<std::uint64_t>(vector->lanes()[0]);
      }
      received += vectors.size();
    }
  });
  for (std::uint64_t sent = 0; sent < kVectors;) {
    PooledVector vector = pool.take();
    if (!vector) {
      std::this_thread::yield();
      continue;
    }
    fill(vector, static_cast<float>(++sent));
    mailbox.put(std::move(vector));
  }
  consumer.join();
  EXPECT_EQ(sum, kVectors * (kVectors + 1) / 2);
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.statistics().take_count, kVectors);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorPoolThreads, AVectorIsFoundAsLongAsThereIsOneForEveryThread) {
  // As many vectors as threads, one held at a time each: nobody may ever be told "exhausted".
  constexpr int kThreads = 4;
  VectorPool225 pool(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&pool] {
      for (int round = 0; round < 50'000; ++round) {
        const PooledVector vector = pool.take();
        EXPECT_TRUE(vector);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().exhausted_count, 0U);
  EXPECT_EQ(pool.statistics().take_count, kThreads * 50'000U);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(VectorPoolThreads, HandlesOutliveTheThreadThatTookThem) {
  VectorPool225 pool(8);
  std::vector<PooledVector> vectors;
  std::thread([&] {
    for (int i = 0; i < 8; ++i) vectors.push_back(pool.take());
  }).join();
  EXPECT_FALSE(pool.take());
  vectors.clear();
  EXPECT_TRUE(pool.take());
}

}  // namespace
}  // namespace drey
