// thread_life_test.cpp: threads are born and die; what they leave behind is used again.
// Method: chains of short threads with resident memory watched; blocks of dead threads checked and
// freed by others. Budget: threads, not time.
// Read next: thread_exit_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/process_memory.hpp"
#include "support/subject.hpp"

#include <algorithm>

namespace drey::test {
namespace {
using ThreadLife = SubjectTest;

TEST_F(ThreadLife, TenThousandThreadsOneAfterAnotherLeaveMemoryWhereItWas) {
  const auto one_thread = [](std::size_t i) {
    std::thread([i] {
      std::array<Travelling*, 30> blocks{};
      for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = make_travelling(16 << (k % 9), i);
      for (Travelling* block : blocks) check_and_free(block);
    }).join();
  };
  for (std::size_t i = 0; i < 500; ++i) one_thread(i);
  const long before = resident_bytes();
  for (std::size_t i = 0; i < scaled(10000); ++i) one_thread(i);
  EXPECT_LT(resident_bytes() - before, long{4} << 20);
}

TEST_F(ThreadLife, BlocksOfADeadThreadKeepTheirContentAndCanBeFreed) {
  for (std::size_t bits = 4; bits <= 22; ++bits) {
    std::vector<Travelling*> blocks(bits > 16 ? 10 : 200);
    std::thread([&] {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i] = make_travelling((std::size_t{1} << bits) + i, i);
      }
    }).join();
    // A third thread frees half, this one the rest.
    bool intact = true;
    std::thread([&] {
      for (std::size_t i = 0; i < blocks.size(); i += 2)
        intact = check_and_free(blocks[i]) && intact;
    }).join();
    for (std::size_t i = 1; i < blocks.size(); i += 2) intact = check_and_free(blocks[i]) && intact;
    ASSERT_TRUE(intact) << bits;
  }
}

TEST_F(ThreadLife, MemoryOfDeadThreadsServesNewOnes) {
  // Each thread leaves half of its blocks alive; the main thread frees them after its death.
  const auto round = [](std::uint64_t tag) {
    std::vector<Travelling*> left(250);
    std::thread([&] {
      for (std::size_t i = 0; i < left.size(); ++i) {
        left[i] = make_travelling(1 + (i * 37) % 3000, tag);
        check_and_free(make_travelling(1 + (i * 53) % 3000, tag));
      }
    }).join();
    bool intact = true;
    for (Travelling* block : left) intact = check_and_free(block) && intact;
    return intact;
  };
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(round(i));
  const long before = resident_bytes();
  for (std::uint64_t i = 0; i < scaled(400); ++i) ASSERT_TRUE(round(i));
  EXPECT_LT(resident_bytes() - before, long{8} << 20);
}

TEST_F(ThreadLife, ManyBirthsAtOnceWhileOthersFreeTheirBlocks) {
  const auto slots = std::make_unique<Slots<512>>();
  const std::uint64_t seed = test_seed(38);
  std::atomic<bool> intact{true};
  run_threads(8, [&](std::size_t parent) {
    for (std::size_t i = 0; i < scaled(150); ++i) {
      std::thread([&, parent, i] {
        Random random(seed + parent * 1000003 + i);
        for (int k = 0; k < 200; ++k) {
          Travelling* const made = make_travelling(draw_size(random, 12), random.next());
          // Relaxed: a verdict only, read after the joins.
          if (!check_and_free(slots->exchange(random.below(512), made))) {
            intact.store(false, std::memory_order_relaxed);
          }
        }
      }).join();
    }
  });
  EXPECT_TRUE(slots->drain());
  EXPECT_TRUE(intact.load(std::memory_order_relaxed));
}

TEST_F(ThreadLife, ABlockPassesDownAChainOfThreadsThatAllEnd) {
  // Made in one thread, resized in the next two, freed in the fourth; none lives beside another.
  for (std::size_t bytes : {std::size_t{100}, std::size_t{60000}, std::size_t{20} << 20}) {
    for (std::size_t i = 0; i < scaled(bytes > std::size_t{1} << 20 ? 10 : 100); ++i) {
      Travelling* block = nullptr;
      bool intact = false;
      std::thread([&] { block = make_travelling(bytes, i); }).join();
      std::thread([&] { block = static_cast<Travelling*>(heap::resize(block, bytes * 2)); }).join();
      std::thread([&] { block = static_cast<Travelling*>(heap::resize(block, bytes)); }).join();
      std::thread([&] { intact = check_and_free(block); }).join();
      ASSERT_TRUE(intact) << bytes;
    }
  }
}

TEST_F(ThreadLife, AFirstActOfFreeingDoesNotStopMemoryFromComingBack) {
  Travelling* const foreign = make_travelling(100, 1);
  long grown = 0;
  std::thread([&] {
    check_and_free(foreign);
    for (int i = 0; i < 100; ++i) check_and_free(make_travelling(300000, 2));
    const long before = resident_bytes();
    for (std::size_t i = 0; i < scaled(20000); ++i) check_and_free(make_travelling(300000, 2));
    grown = resident_bytes() - before;
  }).join();
  EXPECT_LT(grown, long{8} << 20);
}

TEST_F(ThreadLife, ThreadsThatTakeTurnsAtABurstShareItsMemory) {
  // Eight threads, alive together, one burst of 30 MiB at a time: not eight bursts resident.
  constexpr std::size_t kThreads = 8;
  std::atomic<std::size_t> turn{0};  // of thread 0, 1, ... 7, 0, ...
  long peak = 0;
  const long before = resident_bytes();
  run_threads(kThreads, [&](std::size_t thread) {
    for (std::size_t round = 0; round < 2; ++round) {
      // Acquire and release: the turn carries `peak`; pairs with the store of the thread before.
      for (std::size_t now = turn.load(std::memory_order_acquire); now % kThreads != thread;
           now = turn.load(std::memory_order_acquire)) {
        turn.wait(now, std::memory_order_acquire);
      }
      std::vector<Travelling*> burst;
      for (std::size_t i = 0; i < 30000; ++i) burst.push_back(make_travelling(1024, i));
      for (Travelling* block : burst) check_and_free(block);
      peak = std::max(peak, resident_bytes() - before);
      turn.fetch_add(1, std::memory_order_acq_rel);
      turn.notify_all();
    }
  });
  EXPECT_LT(peak, long{3 * 30} << 20);
}
}  // namespace
}  // namespace drey::test
