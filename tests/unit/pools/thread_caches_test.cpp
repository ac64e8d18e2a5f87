// thread_caches_test.cpp: nothing that a thread keeps is lost: to a thread that asks for all, when the
// thread ends, when the pool ends first, when the process forks.
//
// Method: a second thread that does something and then waits, asleep, until told to go on. The pools
// are unchecked even under sanitizers, where a pool is checked by default and keeps nothing.
// SPDX-License-Identifier: MIT
#include "support/child_process.hpp"

#include <drey/pools/vector_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace drey {
namespace {
VectorPoolOptions unchecked(std::size_t capacity) {
  return {.capacity = capacity, .checks = VectorChecks::kOff};
}

/// A thread that does what it is asked to and sleeps in between.
class SleepingThread {
 public:
  SleepingThread() : thread_([this] { serve(); }) {}
  ~SleepingThread() {
    ask({});
    thread_.join();
  }
  SleepingThread(const SleepingThread&) = delete;
  SleepingThread& operator=(const SleepingThread&) = delete;

  /// Returns when it is done; the other thread sleeps then.
  void does(std::function<void()> work) { ask(std::move(work)).wait(); }

 private:
  std::future<void> ask(std::function<void()> work) {
    std::packaged_task<void()> task;
    if (work) task = std::packaged_task<void()>(std::move(work));
    std::future<void> done = task.valid() ? task.get_future() : std::future<void>();
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
      is_asked_ = true;
    }
    changed_.notify_one();
    return done;
  }
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_asked_; });
      is_asked_ = false;
      std::packaged_task<void()> task = std::move(task_);
      lock.unlock();
      if (!task.valid()) return;
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::packaged_task<void()> task_;
  bool is_asked_ = false;
  std::thread thread_;  // last: it uses the others
};

std::vector<PooledVector> take_all(VectorPool225& pool, std::size_t count) {
  std::vector<PooledVector> vectors;
  for (std::size_t i = 0; i < count; ++i) {
    vectors.push_back(pool.take());
    if (!vectors.back()) break;
  }
  return vectors;
}

class EveryCapacity : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(ThreadCaches, EveryCapacity, testing::Values(1, 2, 4, 9, 600, 5000));

TEST_P(EveryCapacity, ASleepingThreadKeepsNothingFromOneThatAsksForAll) {
  const std::size_t capacity = GetParam();
  VectorPool225 pool(unchecked(capacity));
  SleepingThread other;
  for (int round = 0; round < 3; ++round) {
    other.does([&] { EXPECT_TRUE(take_all(pool, capacity).back()) << "round " << round; });
    EXPECT_TRUE(take_all(pool, capacity).back()) << "round " << round;
  }
  EXPECT_GT(pool.statistics().steal_count, 0U) << "nobody kept anything: this proves nothing";
  EXPECT_EQ(pool.statistics().exhausted_count, 0U);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST_P(EveryCapacity, ABatchGetsWhatAnotherThreadKept) {
  const std::size_t capacity = std::min(GetParam(), VectorBatch::kRoom);
  VectorPool225 pool(unchecked(capacity));
  SleepingThread other;
  other.does([&] { static_cast<void>(take_all(pool, capacity)); });
  const VectorBatch batch = pool.take_batch(capacity);
  EXPECT_EQ(batch.count(), capacity);
  other.does([&] { EXPECT_FALSE(pool.take()); });
  EXPECT_EQ(pool.statistics().exhausted_count, 1U);
}

TEST_P(EveryCapacity, AThreadThatEndsGivesBackWhatItKept) {
  const std::size_t capacity = GetParam();
  VectorPool225 pool(unchecked(capacity));
  std::thread([&] { static_cast<void>(take_all(pool, capacity)); }).join();
  EXPECT_TRUE(take_all(pool, capacity).back());
  EXPECT_EQ(pool.statistics().steal_count, 0U) << "what it kept was still with it";
}

TEST(ThreadCaches, AThreadMayKeepAgainAfterItsCacheWasTaken) {
  VectorPool225 pool(unchecked(1000));
  SleepingThread other;
  other.does([&] { static_cast<void>(take_all(pool, 1000)); });
  { const auto all = take_all(pool, 1000); }
  const std::uint64_t steals = pool.statistics().steal_count;
  other.does([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pool.take());
  });
  EXPECT_GT(pool.statistics().cached, 0U);
  EXPECT_EQ(pool.statistics().steal_count, steals);
}

TEST(ThreadCaches, APoolMayEndBeforeTheThreadsThatKeptItsVectors) {
  SleepingThread other;
  // Many more pools than slots, one after the other: each takes a slot that the other thread knew before.
  for (int round = 0; round < 200; ++round) {
    auto pool = std::make_unique<VectorPool225>(unchecked(100));
    other.does([&] { static_cast<void>(take_all(*pool, 50)); });
    EXPECT_TRUE(take_all(*pool, 100).back()) << "round " << round;
    other.does([&] { static_cast<void>(take_all(*pool, 50)); });
    pool.reset();
  }
}

TEST(ThreadCaches, MorePoolsThanThreadsCanKeepWorkAllTheSame) {
  constexpr std::size_t kPools = 3 * kSlotCount;
  std::vector<std::unique_ptr<VectorPool225>> pools;
  for (std::size_t i = 0; i < kPools; ++i) {
    pools.push_back(std::make_unique<VectorPool225>(unchecked(20)));
  }
  std::thread([&] {
    for (auto& pool : pools) static_cast<void>(take_all(*pool, 20));
  }).join();
  for (auto& pool : pools) {
    EXPECT_TRUE(take_all(*pool, 20).back());
    EXPECT_TRUE(pool->invariants_hold());
  }
}

TEST(ThreadCaches, ADestructorThatRunsAfterTheThreadsCachesAreGoneStillGivesBack) {
  static VectorPool225 pool(unchecked(10));
  struct Late {
    ~Late() { vector.reset(); }
    PooledVector vector;
  };
  std::thread([] {
    // Destroyed with the thread's other variables; whichever comes first.
    thread_local Late late;
    late.vector = pool.take();
    static_cast<void>(take_all(pool, 9));
  }).join();
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_TRUE(take_all(pool, 10).back());
}

TEST(ThreadCaches, WhoTakesACacheAwayWaitsForItsOwnerToLeaveIt) {
  VectorPool225 pool(unchecked(40));
  SleepingThread owner;
  std::atomic<bool> has_left{false};
  const auto open_count = [] {
    return std::ranges::count_if(this_thread_caches.entries,
                                 [](const auto& entry) { return entry.load() != &closed_cache; });
  };
  owner.does([&] {
    static_cast<void>(take_all(pool, 40));
    ASSERT_EQ(open_count(), 1);
    static_cast<void>(enter_cache(kUncachedSlot));  // in the middle of an operation from here on
  });
  std::thread taker([&] {
    EXPECT_TRUE(take_all(pool, 40).back());
    EXPECT_TRUE(has_left.load()) << "the cache was taken while its owner used it";
  });
  owner.does([&] {
    while (open_count() != 0) std::this_thread::yield();
    // The taker has closed the entry. It gets every chance to go on too early.
    for (int turn = 0; turn < 2'000; ++turn) std::this_thread::yield();
    has_left.store(true);
    leave_cache();
  });
  taker.join();
}

TEST(ThreadCaches, CachesAreTakenFromThreadsThatAreBusy) {
  // One thread takes everything there is, again and again, from others in the middle of their work.
  constexpr std::size_t kCapacity = 64;
  constexpr int kRounds = 2'000;
  VectorPool225 pool(unchecked(kCapacity));
  std::atomic<bool> is_over{false};
  std::atomic<int> damaged_count{0};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 3; ++worker) {
    workers.emplace_back([&, worker] {
      const auto own = static_cast<float>(worker + 1);
      while (!is_over.load()) {
        const PooledVector vector = pool.take();
        if (!vector) continue;
        vector.values()[0] = own;
        vector.values()[224] = own;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (vector.values()[0] != own || vector.values()[224] != own) ++damaged_count;
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    for (const PooledVector& vector : take_all(pool, kCapacity)) {
      if (vector) vector.values()[0] = -1;
    }
  }
  is_over = true;
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(damaged_count, 0);
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_TRUE(take_all(pool, kCapacity).back());
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(ThreadCaches, TheChildOfAForkHasWhatOtherThreadsKept) {
  constexpr std::size_t kCapacity = 1000;
  VectorPool225 pool(unchecked(kCapacity));
  SleepingThread other;
  PooledVector held;
  other.does([&] {
    held = pool.take();
    static_cast<void>(take_all(pool, kCapacity - 1));
  });
  const test::ChildResult child = test::run_forked([&] {
    const bool has_the_rest = static_cast<bool>(take_all(pool, kCapacity - 1).back());
    const auto rest = take_all(pool, kCapacity - 1);
    return has_the_rest && !pool.take() && pool.invariants_hold() ? 0 : 1;
  });
  EXPECT_TRUE(child.succeeded()) << child.summary();
  held.reset();
  EXPECT_TRUE(take_all(pool, kCapacity).back()) << "the parent is as it was";
}

TEST(VectorPoolDeathTest, OfTwoThreadsThatGiveAVectorBackAtOnceOneIsFound) {
  for (int trial = 0; trial < 20; ++trial) {
    const test::ChildResult child = test::run_forked([] {
      VectorPool225 pool(unchecked(100));
      Vector225* const vector = pool.take().detach();
      std::atomic<int> ready{0};
      const auto give_back = [&] {
        ++ready;
        while (ready.load() != 2) {
        }
        pool.give_back(vector);
      };
      std::thread one(give_back);
      std::thread two(give_back);
      one.join();
      two.join();
      return 0;
    });
    EXPECT_NE(child.signal_number, 0) << "both were believed";
    EXPECT_NE(child.error_output.find("given back twice"), std::string::npos) << child.summary();
  }
}
}  // namespace
}  // namespace drey
