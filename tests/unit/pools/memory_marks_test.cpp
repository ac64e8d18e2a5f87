// memory_marks_test.cpp: under the address sanitizer, what an arena or pool has not handed out, or has
// taken back, cannot be touched; for Valgrind: memory_marks_child.cpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/arena.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/memory_marks.hpp>
#include <drey/pools/object_pool.hpp>
#include <drey/pools/shared_arena.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace drey {
namespace {
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

TEST(MemoryMarks, KnowTheSanitizer) {
  EXPECT_TRUE(!kIsSanitized || memory_is_watched());
}

void write(void* place) {
  *static_cast<volatile char*>(place) = 1;
}

class MemoryMarksDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kIsSanitized) GTEST_SKIP() << "needs the address sanitizer";
  }
};

TEST_F(MemoryMarksDeathTest, FindAWriteToRewoundMemory) {
  Arena arena;
  write(arena.allocate(16));
  const ArenaMark mark = arena.mark();
  void* const piece = arena.allocate(100);
  write(piece);
  arena.rewind(mark);
  EXPECT_DEATH(write(piece), "use-after-poison");
  EXPECT_EQ(arena.allocate(100), piece);
  write(piece);
}

TEST_F(MemoryMarksDeathTest, FindAWriteBehindThePiece) {
  Arena arena;
  auto* const piece = static_cast<char*>(arena.allocate(20));
  write(piece + 19);
  EXPECT_DEATH(write(piece + 20), "use-after-poison");
}

TEST_F(MemoryMarksDeathTest, FindAWriteToMemoryBeforeAReset) {
  Arena arena(1_KiB);
  void* first = arena.allocate(600);
  void* second = arena.allocate(600);  // in another chunk
  arena.reset();
  EXPECT_DEATH(write(first), "use-after-poison");
  EXPECT_DEATH(write(second), "use-after-poison");
}

TEST_F(MemoryMarksDeathTest, FindAWriteToAFrameBeforeTheLast) {
  FrameArena arena;
  void* const piece = arena.allocate(64);
  arena.next_frame();
  write(piece);
  arena.next_frame();
  EXPECT_DEATH(write(piece), "use-after-poison");
}

TEST_F(MemoryMarksDeathTest, FindAWriteToASharedArenaThatWasReset) {
  SharedArena arena;
  SharedArenaSlice slice(arena);
  void* const piece = arena.allocate(64);
  void* const of_slice = slice.allocate(64);
  write(piece);
  write(of_slice);
  arena.reset();
  EXPECT_DEATH(write(piece), "use-after-poison");
  EXPECT_DEATH(write(of_slice), "use-after-poison");
}

TEST_F(MemoryMarksDeathTest, FindAWriteToADestroyedObject) {
  ObjectPool<long> pool(4);
  long* const object = pool.construct(1L);
  pool.destroy(object);
  EXPECT_DEATH(write(object), "use-after-poison");
  EXPECT_EQ(pool.construct(2L), object);
  EXPECT_EQ(*object, 2L);
  pool.destroy(object);
}
}  // namespace
}  // namespace drey
