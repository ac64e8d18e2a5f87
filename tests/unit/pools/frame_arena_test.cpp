// frame_arena_test.cpp: memory of a frame lasts through the next one, no longer.
// SPDX-License-Identifier: MIT
#include <drey/pools/frame_arena.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace drey {
namespace {
TEST(FrameArena, KeepsAFrameThroughTheNext) {
  FrameArena arena(4_KiB);
  std::span<float> last;
  for (int frame = 0; frame < 100; ++frame) {
    EXPECT_EQ(arena.frame(), static_cast<std::uint64_t>(frame));
    const std::span<float> now = arena.allocate_array<float>(1000);
    ASSERT_EQ(now.size(), 1000U);
    std::ranges::fill(now, static_cast<float>(frame));
    EXPECT_EQ(std::ranges::count(last, static_cast<float>(frame - 1)),
              static_cast<std::ptrdiff_t>(last.size()));
    last = now;
    arena.next_frame();
    EXPECT_TRUE(arena.owns(last.data())) << "valid in the frame that has begun";
  }
}

TEST(FrameArena, UsesTheMemoryOfTwoFramesAgoAgain) {
  FrameArena arena;
  void* const first = arena.allocate(64);
  arena.next_frame();
  void* const second = arena.allocate(64);
  EXPECT_NE(first, second);
  arena.next_frame();
  EXPECT_FALSE(arena.owns(first));
  EXPECT_TRUE(arena.owns(second));
  EXPECT_EQ(arena.allocate(64), first);
}

TEST(FrameArena, GrowsNoMoreAfterTwoFrames) {
  FrameArena arena(1_KiB);
  std::size_t reserved_bytes = 0;
  for (int frame = 0; frame < 20; ++frame) {
    for (int i = 0; i < 50; ++i) ASSERT_NE(arena.allocate(i % 10 == 0 ? 5000 : 100, 64), nullptr);
    if (frame == 1) reserved_bytes = arena.statistics().reserved_bytes;
    if (frame > 1) {
      EXPECT_EQ(arena.statistics().reserved_bytes, reserved_bytes) << frame;
    }
    arena.next_frame();
  }
}

TEST(FrameArena, HasScopesWithinAFrame) {
  FrameArena arena;
  ASSERT_NE(arena.make<int>(7), nullptr);
  const std::size_t used_bytes = arena.statistics().used_bytes;
  {
    const ArenaScope scope(arena.current());
    ASSERT_NE(arena.allocate(1000), nullptr);
  }
  EXPECT_EQ(arena.statistics().used_bytes, used_bytes);
}

TEST(FrameArena, IsExhaustedPerFrame) {
  FrameArena arena(1_KiB, 2_KiB);
  while (arena.allocate(100) != nullptr) {
  }
  arena.next_frame();
  EXPECT_NE(arena.allocate(100), nullptr) << "the next frame has room of its own";
  arena.release();
  EXPECT_EQ(arena.statistics().reserved_bytes, 0U);
}
}  // namespace
}  // namespace drey
