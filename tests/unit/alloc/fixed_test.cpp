// fixed_test.cpp: blocks of a size known to the compiler are blocks like all others.
//
// Method: one source, two programs: with the archive, where the hit is inlined, and with libdrey.so,
// where both functions are calls.
// SPDX-License-Identifier: MIT
#include <drey/alloc/fixed.hpp>

#include "support/pattern.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace drey {
namespace {
TEST(Fixed, IsInlineExactlyWhereTheArchiveIsLinked) {
  EXPECT_EQ(detail::kHitIsInline, DREY_TEST_INLINE != 0);
}

template <std::size_t Size>
void expect_ordinary_blocks() {
  std::set<void*> blocks;
  for (std::size_t count = 0; count < 200; ++count) {
    void* const block = count % 3 == 0 ? drey_malloc(Size) : allocate_fixed<Size>();
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(drey_usable_size(block), drey_good_size(Size)) << Size;
    ASSERT_TRUE(test::aligned_to(block, 16));
    ASSERT_TRUE(blocks.insert(block).second) << "taken twice";
    test::fill_sparse(block, Size, count);
  }
  std::size_t count = 0;
  for (void* const block : blocks) {
    if (count++ % 2 == 0) {
      deallocate_fixed<Size>(block);
    } else {
      drey_free(block);
    }
  }
}

template <std::size_t... Sizes>
void expect_ordinary_blocks_of(std::index_sequence<Sizes...> /*sizes*/) {
  (expect_ordinary_blocks<Sizes>(), ...);
}

TEST(Fixed, GivesOrdinaryBlocksOfEverySize) {
  expect_ordinary_blocks_of(
      std::index_sequence<0, 1, 15, 16, 17, 64, 900, 1023, 1024, 1025, 1152, 1153, 4096, 50'000,
                          65'536, 65'537, 200'000, 1'048'576, 1'048'577>());
}

TEST(Fixed, KeepsWhatIsWrittenBetweenALotOfReuse) {
  struct Point {
    int x;
    int y;
  };
  std::vector<Point*> points(64, nullptr);
  std::uint64_t state = 1;
  for (int step = 0; step < 200'000; ++step) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    Point*& point = points[(state >> 33) % points.size()];
    if (point != nullptr) {
      ASSERT_EQ(point->x, -point->y);
      point->x = 0;  // a store just before the block goes back must not come after its link
      deallocate_fixed<sizeof(Point)>(point);
    }
    point = static_cast<Point*>(allocate_fixed<sizeof(Point)>());
    point->x = step;
    point->y = -step;
  }
  for (Point* const point : points) deallocate_fixed<sizeof(Point)>(point);
}

TEST(Fixed, TakesNullAndKeepsErrno) {
  errno = 9;
  deallocate_fixed<900>(nullptr);
  deallocate_fixed<900>(allocate_fixed<900>());
  EXPECT_EQ(errno, 9);
}

TEST(Fixed, FailsAsMallocDoes) {
  errno = 0;
  EXPECT_EQ(allocate_fixed<SIZE_MAX / 2 + 1>(), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Fixed, BlocksGoBackInAnyThreadAndAfterTheirOwnsEnd) {
  std::atomic<void*> slots[64] = {};
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < 4; ++index) {
    threads.emplace_back([&slots, index] {
      for (std::size_t step = 0; step < 20'000; ++step) {
        void* block = allocate_fixed<200>();
        test::fill_pattern(block, 200, index);
        // Acquire and release: the block's contents go with it.
        block = slots[(step * 7 + index) % 64].exchange(block, std::memory_order_acq_rel);
        deallocate_fixed<200>(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::atomic<void*>& slot : slots) deallocate_fixed<200>(slot.load());
  drey_collect();
}

TEST(Fixed, ADoubleFreeInARowIsReported) {
  // In the child as a whole: the parent's malloc may be drey's, too, and take the block meanwhile.
  const auto free_twice = [] {
    void* const block = allocate_fixed<64>();
    deallocate_fixed<64>(block);
    deallocate_fixed<64>(test::escape(block));
  };
  EXPECT_DEATH(free_twice(), "drey: double free: 0x");
}
}  // namespace
}  // namespace drey
