// allocator_uses_test.cpp: blocks used in several streams: how long a recorded use lasts, and that no part of
// a block forgets one.
// SPDX-License-Identifier: MIT
#include "unit/cuda/capture_fixture.hpp"

namespace drey::cuda {
namespace {
constexpr std::size_t kBlock = 3 * kMiB;

TEST(AllocatorUses, OfRecordStreamLastUntilTheFreeThoughTheStreamWasIdleInBetween) {
  CaptureFixture fixture;
  void* const block = fixture.allocate(kBlock, fixture.a);
  fixture.order(fixture.a, fixture.b);
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), fixture.b, false);
  AllocatorFixture::expect_ok(fixture.allocator.record_stream(block, fixture.b));
  // An event ends b's epoch, and it is known to be past.
  void* const other = fixture.allocate(1000, fixture.a);
  fixture.device.simulator.block_used(AllocatorFixture::number_of(other), fixture.b, true);
  AllocatorFixture::expect_ok(fixture.allocator.record_use(other, fixture.b));
  fixture.device.expect(fixture.device.driver.stream_synchronize(fixture.b));
  AllocatorFixture::expect_ok(fixture.allocator.trim_to(0));
  fixture.device.launch(fixture.b, AllocatorFixture::number_of(block), kBlock,
                        "late, yet before the free");
  fixture.free(block);
  EXPECT_NE(fixture.allocate(kBlock, fixture.a), block);
}

// A small block cut out of a large one makes a page of small blocks; who gets the rest of that page has to
// be after all uses of the large block as well.
TEST(AllocatorStreams, TheRestOfAPageWaitsForAllThatItsBlockWaitedFor) {
  AllocatorConfig config;
  config.may_insert_waits = false;
  AllocatorFixture fixture(config);
  Stream owner = fixture.device.new_stream();
  Stream other = fixture.device.new_stream();
  Stream third = fixture.device.new_stream();
  const auto wait_for = [&](Stream waiter, Stream waited) {
    StreamMark mark;
    AllocatorFixture::expect_ok(fixture.allocator.mark(waited, &mark));
    Event event = fixture.device.new_event();
    fixture.device.record(event, waited);
    fixture.device.wait(waiter, event);
    AllocatorFixture::expect_ok(fixture.allocator.note_wait(waiter, mark));
  };
  void* const block = fixture.allocate(4 * kMiB, owner);
  wait_for(other, owner);
  fixture.device.launch(other, AllocatorFixture::number_of(block), 4 * kMiB, "other use");
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), other, true);
  AllocatorFixture::expect_ok(fixture.allocator.record_use(block, other));
  fixture.free(block);
  wait_for(third, owner);
  Stream both = fixture.device.new_stream();
  wait_for(both, owner);
  wait_for(both, other);
  static_cast<void>(fixture.allocate(4096, both));
  // Of `third`, which waits for the owner only; the fixture finds the hazard.
  for (int count = 0; count < 4; ++count) static_cast<void>(fixture.allocate(4096, third));
}

// The block outlives its stream, whose place goes to one that waits for the block's other stream.
TEST(AllocatorStreams, ABlockThatOutlivesItsStreamWaitsForItsOtherUses) {
  AllocatorFixture fixture;
  Stream first = fixture.device.new_stream();
  Stream other = fixture.device.new_stream();
  void* const block = fixture.allocate(3 * kMiB, first);
  fixture.free(fixture.allocate(4096, other));  // so that it has a place of its own
  AllocatorFixture::expect_ok(fixture.allocator.stream_retired(first));
  sim::SimulatedDevice::expect(fixture.device.driver.ctx_synchronize());
  AllocatorFixture::expect_ok(fixture.allocator.trim_to(UINT64_MAX));  // learns that all is past
  sim::SimulatedDevice::expect(fixture.device.driver.stream_destroy(first));
  fixture.device.launch(other, AllocatorFixture::number_of(block), 3 * kMiB, "other use");
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), other, true);
  AllocatorFixture::expect_ok(fixture.allocator.record_use(block, other));
  Stream second = fixture.device.new_stream();
  StreamMark mark;
  AllocatorFixture::expect_ok(fixture.allocator.mark(other, &mark));
  Event event = fixture.device.new_event();
  fixture.device.record(event, other);
  fixture.device.wait(second, event);
  AllocatorFixture::expect_ok(fixture.allocator.note_wait(second, mark));
  fixture.free(block);
  // Of streams that wait for nobody; the fixture finds the hazard.
  for (int count = 0; count < 4; ++count)
    static_cast<void>(fixture.allocate(3 * kMiB, fixture.device.new_stream()));
}

TEST(AllocatorStatistics, CountFreeBlocksThatSharePagesWithOthers) {
  AllocatorConfig config;
  config.magazine_bytes_max = 0;
  CaptureFixture fixture(config);
  void* blocks[3] = {};
  for (void*& block : blocks) block = fixture.allocate(kMiB + 512, fixture.a);
  const auto splits = [&] { return fixture.allocator.statistics().inactive_split; };
  const auto bytes = [&] { return fixture.allocator.statistics().inactive_split_bytes.current; };
  const std::uint64_t behind = bytes();
  fixture.free(blocks[1]);
  EXPECT_EQ(bytes(), behind + kMiB + 512);
  EXPECT_EQ(splits().current, 2U);
  fixture.free(blocks[0]);
  fixture.free(blocks[2]);
  EXPECT_EQ(splits().current, 0U) << "all of it is whole pages again";
  EXPECT_EQ(splits().peak, 2U);
  EXPECT_EQ(splits().allocated, splits().freed);
}

TEST(AllocatorUses, AreKeptByWhatASmallRequestLeavesOfABlock) {
  CaptureFixture fixture;
  Stream both = fixture.device.new_stream();
  Stream one = fixture.device.new_stream();
  void* const block = fixture.allocate(4 * kMiB, fixture.a);
  fixture.order(fixture.a, fixture.b);
  fixture.device.launch(fixture.b, AllocatorFixture::number_of(block), 4 * kMiB, "in b");
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), fixture.b, false);
  AllocatorFixture::expect_ok(fixture.allocator.record_stream(block, fixture.b));
  fixture.free(block, fixture.a);
  const auto wait_for = [&](Stream waited, Stream waiter) {
    StreamMark mark;
    AllocatorFixture::expect_ok(fixture.allocator.mark(waited, &mark));
    fixture.order(waited, waiter);
    AllocatorFixture::expect_ok(fixture.allocator.note_wait(waiter, mark));
  };
  wait_for(fixture.a, both);
  wait_for(fixture.b, both);
  wait_for(fixture.a, one);
  const auto is_in_block = [&](const void* pointer) {
    return AllocatorFixture::number_of(pointer) - AllocatorFixture::number_of(block) < 4 * kMiB;
  };
  EXPECT_TRUE(is_in_block(fixture.allocate(1000, both)));
  EXPECT_FALSE(is_in_block(fixture.allocate(1000, one))) << "b's work may still run";
}
}  // namespace
}  // namespace drey::cuda
