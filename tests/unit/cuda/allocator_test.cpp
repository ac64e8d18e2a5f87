// allocator_test.cpp: the contract of the device allocator on the simulated device, which never finishes any
// work by itself and checks every use: what costs a driver call and what does not, and what is refused.
// SPDX-License-Identifier: MIT
#include "unit/cuda/allocator_fixture.hpp"

#include <drey/cuda/allocator_error.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace drey::cuda {
namespace {
TEST(DeviceAllocator, GivesAlignedMemoryThatWorkCanUse) {
  AllocatorFixture fixture;
  for (const std::size_t bytes :
       {1UL, 512UL, 513UL, 4096UL, 70'000UL, 1048576UL, 1048577UL, 5'000'000UL}) {
    void* const block = fixture.allocate(bytes);
    EXPECT_EQ(AllocatorFixture::number_of(block) % 512, 0U) << bytes;
    EXPECT_TRUE(fixture.allocator.owns(block));
    fixture.free(block);
  }
}

TEST(DeviceAllocator, HonoursLargeAlignments) {
  AllocatorFixture fixture;
  for (std::size_t alignment = 1; alignment <= 64 * kMiB; alignment *= 4) {
    void* const block = fixture.allocate(3000, nullptr, alignment);
    EXPECT_EQ(AllocatorFixture::number_of(block) % alignment, 0U) << alignment;
    void* const other = fixture.allocate(3 * kMiB, nullptr, alignment);
    EXPECT_EQ(AllocatorFixture::number_of(other) % alignment, 0U) << alignment;
    fixture.free(block);
    fixture.free(other);
  }
}

TEST(DeviceAllocator, LiveBlocksNeverOverlap) {
  AllocatorFixture fixture;
  std::vector<void*> blocks;
  // The simulator reports an overlap as a hazard, which the fixture looks for.
  for (std::size_t bytes = 100; bytes < 3'000'000; bytes += bytes / 3)
    for (int copy = 0; copy < 3; ++copy) blocks.push_back(fixture.allocate(bytes));
  for (std::size_t place = 0; place < blocks.size(); place += 2) fixture.free(blocks[place]);
  for (std::size_t place = 0; place < blocks.size(); place += 2)
    blocks[place] = fixture.allocate(7777 * (place + 1));
  for (void* const block : blocks) fixture.free(block);
  EXPECT_EQ(fixture.allocator.statistics().allocation.all.current, 0U);
}

TEST(DeviceAllocator, SameStreamReuseMakesNoDriverCallAndNoEvent) {
  AllocatorFixture fixture;
  Stream stream = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  for (const std::size_t bytes : {4096UL, 900'000UL, 3'000'000UL, 40'000'000UL}) {
    fixture.free(fixture.allocate(bytes, stream));
    fixture.free(fixture.allocate(bytes, second));
    const std::uint64_t calls = fixture.calls();
    for (int round = 0; round < 20; ++round) {
      const Allocation made = fixture.allocator.try_allocate(bytes, 256, stream);
      ASSERT_NE(made.pointer, nullptr);
      AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(made.pointer));
    }
    EXPECT_EQ(fixture.calls(), calls) << bytes;
  }
}

TEST(DeviceAllocator, AProgramOfOneStreamRecordsNoEvent) {
  AllocatorFixture fixture;
  for (int round = 0; round < 300; ++round) {
    void* const small = fixture.allocate(1000 + round * 100);
    void* const large = fixture.allocate(2'000'000 + round * 1000);
    fixture.free(small);
    fixture.free(large);
  }
  EXPECT_EQ(fixture.calls("cuEventRecord"), 0U);
  EXPECT_EQ(fixture.calls("cuEventQuery"), 0U);
}

TEST(DeviceAllocator, GivesAnotherStreamWhatIsPast) {
  AllocatorFixture fixture({}, allocator_device(512, sim::Schedule::kEager));
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  void* const block = fixture.allocate(64 * kMiB, first);
  fixture.free(block);
  // Nobody has recorded an event yet: the second grows, and what it missed is recorded for the next.
  void* const grown = fixture.allocate(64 * kMiB, second);
  EXPECT_NE(grown, block);
  EXPECT_EQ(fixture.allocate(64 * kMiB, second), block);
  EXPECT_GE(fixture.allocator.statistics().served_by[static_cast<int>(LadderStep::kOtherStream)],
            1U);
}

TEST(DeviceAllocator, GivesAnotherStreamWhatItWaitsForAlready) {
  AllocatorFixture fixture;
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  fixture.free(fixture.allocate(2 * kMiB, second));
  void* const block = fixture.allocate(6 * kMiB, first);
  fixture.free(block);
  StreamMark mark;
  AllocatorFixture::expect_ok(fixture.allocator.mark(first, &mark));
  Event event = fixture.device.new_event();
  fixture.device.record(event, first);
  fixture.device.wait(second, event);
  AllocatorFixture::expect_ok(fixture.allocator.note_wait(second, mark));
  const std::uint64_t records = fixture.calls("cuEventRecord");
  EXPECT_EQ(fixture.allocate(6 * kMiB, second), block);
  EXPECT_EQ(fixture.calls("cuEventRecord"), records);
}

TEST(DeviceAllocator, MakesAStreamWaitWhenThereIsNoOtherMemory) {
  AllocatorConfig config;
  config.limits.hard = 16 * kMiB;
  AllocatorFixture fixture(config);
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  fixture.free(fixture.allocate(14 * kMiB, first));
  void* const block = fixture.allocate(12 * kMiB, second);
  EXPECT_EQ(fixture.allocator.statistics().waits_inserted, 1U);
  EXPECT_EQ(fixture.allocator.statistics().synchronised, 0U);
  fixture.free(block);
}

TEST(DeviceAllocator, WaitsOnTheHostWhereWaitsOfStreamsAreOff) {
  AllocatorConfig config;
  config.limits.hard = 16 * kMiB;
  config.may_insert_waits = false;
  AllocatorFixture fixture(config);
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  fixture.free(fixture.allocate(14 * kMiB, first));
  void* const block = fixture.allocate(12 * kMiB, second);
  EXPECT_EQ(fixture.allocator.statistics().waits_inserted, 0U);
  EXPECT_GE(fixture.allocator.statistics().synchronised, 1U);
  fixture.free(block);
}

TEST(DeviceAllocator, LegacyStreamHasTwoHandles) {
  AllocatorFixture fixture;
  void* const block = fixture.allocate(3 * kMiB, nullptr);
  fixture.free(block);
  const std::uint64_t records = fixture.calls("cuEventRecord");
  EXPECT_EQ(fixture.allocate(3 * kMiB, legacy_stream()), block);
  EXPECT_EQ(fixture.calls("cuEventRecord"), records);
}

TEST(DeviceAllocator, RecordStreamHoldsABlockUntilTheOtherStreamIsDone) {
  AllocatorConfig config;
  config.limits.hard = 8 * kMiB;
  AllocatorFixture fixture(config);
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  void* const block = fixture.allocate(6 * kMiB, first);
  AllocatorFixture::expect_ok(fixture.allocator.record_stream(block, second));
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), second, false);
  Event event = fixture.device.new_event();
  fixture.device.record(event, first);
  fixture.device.wait(second, event);
  fixture.device.launch(second, AllocatorFixture::number_of(block), 6 * kMiB, "elsewhere");
  fixture.free(block);
  // Its own stream has to wait as well.
  EXPECT_EQ(fixture.allocate(6 * kMiB, first), block);
  EXPECT_EQ(fixture.allocator.statistics().waits_inserted, 1U);
}

TEST(DeviceAllocator, RecordUseHoldsABlockNoLongerThanTheUse) {
  AllocatorFixture fixture;
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  void* const seconds = fixture.allocate(kMiB, second);
  void* const block = fixture.allocate(6 * kMiB, first);
  Event event = fixture.device.new_event();
  fixture.device.record(event, first);
  fixture.device.wait(second, event);
  fixture.device.launch(second, AllocatorFixture::number_of(block), 6 * kMiB, "elsewhere");
  { UseScope scope(fixture.allocator, block, second); }
  fixture.device.simulator.block_used(AllocatorFixture::number_of(block), second, true);
  // The first stream is made to wait for the recorded use: then the block is its own at once.
  StreamMark mark;
  AllocatorFixture::expect_ok(fixture.allocator.mark(second, &mark));
  fixture.device.record(event, second);
  fixture.device.wait(first, event);
  AllocatorFixture::expect_ok(fixture.allocator.note_wait(first, mark));
  fixture.device.launch(second, AllocatorFixture::number_of(seconds), kMiB, "later work");
  fixture.free(block);
  EXPECT_EQ(fixture.allocate(6 * kMiB, first), block);
  EXPECT_EQ(fixture.allocator.statistics().waits_inserted, 0U);
}

TEST(DeviceAllocator, ABlockFreedInAnotherStreamIsThatStreamsFromThenOn) {
  AllocatorFixture fixture;
  Stream first = fixture.device.new_stream();
  Stream second = fixture.device.new_stream();
  void* const block = fixture.allocate(kMiB, first);
  void* const others[] = {fixture.allocate(kMiB, second), fixture.allocate(kMiB, second)};
  for (void* const other : others) fixture.free(other);  // its magazine is full
  Event event = fixture.device.new_event();
  fixture.device.record(event, first);
  fixture.device.wait(second, event);
  fixture.free(block, second);
  ASSERT_EQ(fixture.allocate(kMiB, second), block);
  fixture.free(block);
  // The first stream has not waited for what the second did with it: a hazard, if it got it.
  EXPECT_NE(fixture.allocate(kMiB, first), block);
}

TEST(DeviceAllocator, AHandleMadeAgainIsAnotherStream) {
  AllocatorFixture fixture;
  Stream first = fixture.device.new_stream();
  void* const block = fixture.allocate(4096, first);
  fixture.free(block);
  AllocatorFixture::expect_ok(fixture.allocator.stream_retired(first));
  sim::SimulatedDevice::expect(fixture.device.driver.stream_destroy(first));
  Stream again = fixture.device.new_stream();
  ASSERT_EQ(again, first) << "the simulator uses handles again";
  // The fixture finds a hazard if memory still in use goes out.
  for (int count = 0; count < 40; ++count) static_cast<void>(fixture.allocate(4096, again));
}

TEST(DeviceAllocator, AskingForStreamsIdsNeedsNoWordOfTheirEnd) {
  AllocatorConfig config;
  config.asks_stream_ids = true;
  AllocatorFixture fixture(config);
  for (int round = 0; round < 300; ++round) {
    Stream stream = fixture.device.new_stream();
    fixture.free(fixture.allocate(4096, stream), stream);
    sim::SimulatedDevice::expect(fixture.device.driver.stream_destroy(stream));
  }
}

struct Misuse {
  explicit Misuse(AllocatorFixture& fixture) : owner(fixture), before(reserved()) {}
  [[nodiscard]] std::uint64_t reserved() const {
    return owner.allocator.statistics().reserved_bytes.current;
  }
  void expect(const Outcome& outcome, Status status) const {
    EXPECT_EQ(outcome.status, status) << text_of(outcome.status);
    EXPECT_EQ(reserved(), before);
    EXPECT_TRUE(owner.allocator.invariants_hold());
  }
  AllocatorFixture& owner;
  std::uint64_t before;
};

TEST(DeviceAllocator, RefusesDoubleFreesOfEveryKind) {
  AllocatorFixture fixture;
  for (const std::size_t bytes : {4096UL, 3'000'000UL}) {
    void* const neighbour = fixture.allocate(bytes);
    void* const block = fixture.allocate(bytes);
    fixture.free(block);
    const Misuse misuse(fixture);
    misuse.expect(fixture.allocator.try_deallocate(block), Status::kDoubleFree);
    misuse.expect(fixture.allocator.try_deallocate(block, nullptr), Status::kDoubleFree);
    fixture.free(neighbour);
    misuse.expect(fixture.allocator.try_deallocate(block), Status::kDoubleFree);
    misuse.expect(fixture.allocator.record_use(block, nullptr), Status::kDoubleFree);
  }
}

TEST(DeviceAllocator, RefusesPointersThatAreNotItsOwn) {
  AllocatorFixture fixture;
  int local = 0;
  void* const block = fixture.allocate(3 * kMiB);
  const Misuse misuse(fixture);
  misuse.expect(fixture.allocator.try_deallocate(&local), Status::kForeignPointer);
  misuse.expect(fixture.allocator.record_stream(&local, nullptr), Status::kForeignPointer);
  char* const inside = static_cast<char*>(block);
  misuse.expect(fixture.allocator.try_deallocate(inside + 1), Status::kInteriorPointer);
  misuse.expect(fixture.allocator.try_deallocate(inside + 512), Status::kInteriorPointer);
  misuse.expect(fixture.allocator.try_deallocate(inside + 2 * kMiB), Status::kInteriorPointer);
  misuse.expect(fixture.allocator.try_deallocate(inside + 500 * kMiB), Status::kForeignPointer);
  fixture.free(block);
}

TEST(DeviceAllocator, RefusesWrongSizes) {
  AllocatorFixture fixture;
  for (const std::size_t bytes : {5000UL, 3'000'000UL}) {
    const Allocation made = fixture.allocator.try_allocate(bytes, 256, nullptr);
    const Misuse misuse(fixture);
    misuse.expect(fixture.allocator.try_deallocate(made.pointer, bytes + 1, 256, nullptr),
                  Status::kWrongSize);
    misuse.expect(fixture.allocator.try_deallocate(made.pointer, 0, 256, nullptr),
                  Status::kWrongSize);
    misuse.expect(fixture.allocator.try_deallocate(made.pointer, bytes, 256, nullptr), Status::kOk);
  }
}

TEST(DeviceAllocator, RefusesSizesAndAlignmentsThatMakeNoSense) {
  AllocatorFixture fixture;
  const Misuse misuse(fixture);
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 511, SIZE_MAX / 2 + 1})
    misuse.expect(fixture.allocator.try_allocate(bytes, 256, nullptr).outcome,
                  Status::kInvalidSize);
  for (const std::size_t alignment : {0UL, 3UL, 768UL, SIZE_MAX, std::size_t{1} << 63})
    misuse.expect(fixture.allocator.try_allocate(100, alignment, nullptr).outcome,
                  Status::kInvalidAlignment);
  const Allocation none = fixture.allocator.try_allocate(0, 256, nullptr);
  EXPECT_EQ(none.pointer, nullptr);
  AllocatorFixture::expect_ok(none.outcome);
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(nullptr));
}

TEST(DeviceAllocator, RefusesStreamsThatDoNotExist) {
  AllocatorFixture fixture;
  Stream stream = fixture.device.new_stream();
  sim::SimulatedDevice::expect(fixture.device.driver.stream_destroy(stream));
  const Misuse misuse(fixture);
  misuse.expect(fixture.allocator.try_allocate(100, 256, stream).outcome, Status::kInvalidStream);
  void* const block = fixture.allocate(100);
  const Misuse with_block(fixture);
  with_block.expect(fixture.allocator.try_deallocate(block, stream), Status::kInvalidStream);
  with_block.expect(fixture.allocator.record_use(block, stream), Status::kInvalidStream);
  fixture.free(block);
}

TEST(DeviceAllocator, ThrowsAnErrorForEachKindOfFailure) {
  AllocatorConfig config;
  config.limits.hard = 4 * kMiB;
  AllocatorFixture fixture(config);
  void* const block = fixture.allocator.allocate(1000, 256, nullptr);
  int local = 0;
  EXPECT_THROW(fixture.allocator.deallocate(&local), MisuseError);
  EXPECT_THROW(static_cast<void>(fixture.allocator.allocate(SIZE_MAX, 256, nullptr)), MisuseError);
  try {
    static_cast<void>(fixture.allocator.allocate(5 * kMiB, 256, nullptr));
    ADD_FAILURE() << "it fitted";
  } catch (const OutOfDeviceMemory& error) {
    EXPECT_EQ(error.report().requested, 5 * kMiB);
    EXPECT_EQ(error.report().limit, 4 * kMiB);
    EXPECT_NE(std::string(error.what()).find("larger than the limit"), std::string::npos)
        << error.what();
  }
  fixture.device.simulator.faults().fail_nth("cuMemCreate", 1, Result::kUnknown);
  EXPECT_THROW(static_cast<void>(fixture.allocator.allocate(2 * kMiB, 256, nullptr)), DriverError);
  fixture.allocator.deallocate(block);
  DeviceAllocator closed;
  EXPECT_THROW(static_cast<void>(closed.allocate(1, 1, nullptr)), UnusableError);
}

TEST(DeviceAllocator, ForgetsEverythingWithoutADriverCall) {
  sim::SimulatedDevice device(allocator_device());
  DeviceAllocator allocator;
  ASSERT_TRUE(allocator.open(device.driver, {}).is_ok());
  const Allocation made = allocator.try_allocate(100, 256, nullptr);
  const std::uint64_t calls = device.simulator.faults().calls();
  allocator.abandon();
  EXPECT_EQ(allocator.try_deallocate(made.pointer).status, Status::kClosed);
  EXPECT_EQ(device.simulator.faults().calls(), calls);
  {
    DeviceAllocator other;
    ASSERT_TRUE(other.open(device.driver, {}).is_ok());
    static_cast<void>(other.try_allocate(100, 256, nullptr));
    device.simulator.faults().break_context(Result::kDeinitialized);
  }
  device.simulator.faults().clear();
}

TEST(DeviceAllocator, OpensAtMostSixteenTimes) {
  sim::SimulatedDevice device(allocator_device());
  std::vector<std::unique_ptr<DeviceAllocator>> open;
  for (std::size_t count = 0; count < DeviceAllocator::kAllocatorsMax; ++count) {
    open.push_back(std::make_unique<DeviceAllocator>());
    ASSERT_TRUE(open.back()->open(device.driver, {}).is_ok()) << count;
  }
  const sim::Counts full = device.simulator.counts();
  DeviceAllocator more;
  EXPECT_EQ(more.open(device.driver, {}).status, Status::kTooManyAllocators);
  EXPECT_EQ(device.simulator.counts(), full);
  for (auto& allocator : open) EXPECT_TRUE(allocator->close().is_ok());
  EXPECT_TRUE(more.open(device.driver, {}).is_ok());
  EXPECT_TRUE(more.close().is_ok());
}

TEST(DeviceAllocator, NeedsVirtualMemory) {
  sim::Config config = allocator_device();
  config.has_virtual_memory = false;
  sim::SimulatedDevice device(config);
  DeviceAllocator allocator;
  EXPECT_EQ(allocator.open(device.driver, {}).status, Status::kInvalidConfig);
  EXPECT_FALSE(allocator.is_open());
  EXPECT_EQ(device.simulator.counts(), sim::Counts{});
}
}  // namespace
}  // namespace drey::cuda
