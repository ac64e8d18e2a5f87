// allocator_views_test.cpp: what the device allocator did is what a trace of it says, and what it has is
// what a snapshot of it shows.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/allocator_views.hpp>
#include <drey/cuda/trace/trace_files.hpp>

#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace drey::cuda::trace {
namespace {
constexpr std::size_t kAlignment = 512;

class AllocatorViews : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(allocator_.open(device_.driver, {}).is_ok());
    ASSERT_TRUE(start_recording(256));
    records_.resize(4096);
    static_cast<void>(read_records(records_));
    begin_ = trace_moment();
    allocator_.set_observer(&recording_observer());
    stream_ = device_.new_stream();
  }
  void TearDown() override {
    allocator_.set_observer(nullptr);
    stop_recording();
    EXPECT_TRUE(allocator_.close().is_ok());
  }

  void* allocate(std::size_t bytes, Stream stream) {
    const Allocation allocation = allocator_.try_allocate(bytes, kAlignment, stream);
    EXPECT_TRUE(allocation.outcome.is_ok());
    return allocation.pointer;
  }
  std::span<const TraceRecord> recorded() { return {records_.data(), read_records(records_)}; }

  sim::SimulatedDevice device_;
  DeviceAllocator allocator_;
  std::vector<TraceRecord> records_;
  TraceMoment begin_;
  Stream stream_ = nullptr;
};

TEST_F(AllocatorViews, ATraceHasEveryEventWithItsBlockAndStream) {
  Stream other = device_.new_stream();
  void* const small = allocate(1000, stream_);
  void* const large = allocate(5'000'000, other);
  EXPECT_TRUE(allocator_.record_stream(small, other).is_ok());
  EXPECT_TRUE(allocator_.try_deallocate(small).is_ok());
  EXPECT_TRUE(allocator_.try_deallocate(large, stream_).is_ok());
  const DeviceTrace trace = trace_of_records(recorded(), begin_, trace_moment());
  ASSERT_EQ(trace.events.size(), 5U) << "what the allocator maps is no event of the program";
  EXPECT_EQ(trace.events[0].bytes, 1000U) << "as asked for";
  EXPECT_EQ(trace.events[1].bytes, 5'000'000U);
  EXPECT_EQ(trace.events[2].action, TraceAction::kRecordStream);
  EXPECT_EQ(trace.events[2].stream, trace.events[1].stream);
  EXPECT_EQ(trace.events[3].block, 0U);
  EXPECT_EQ(trace.events[4].block, 1U);
  EXPECT_EQ(trace.events[4].stream, trace.events[0].stream) << "freed on the other stream";
  EXPECT_EQ(read_binary(binary_of(trace), "f"), trace);
}

TEST_F(AllocatorViews, ASnapshotHasAllMemoryOnceAndTheLiveBlocks) {
  void* const small = allocate(700, stream_);
  void* const large = allocate(3 << 20, stream_);
  void* const gone = allocate(3 << 20, stream_);
  EXPECT_TRUE(allocator_.try_deallocate(gone).is_ok());
  const Snapshot snapshot = snapshot_of(allocator_, recorded(), begin_, trace_moment());
  std::uint64_t requested = 0;
  bool has_small = false;
  bool has_large = false;
  for (const SnapshotSegment& segment : snapshot.segments) {
    std::uint64_t next = segment.address;
    for (const SnapshotBlock& block : segment.blocks) {
      EXPECT_EQ(block.address, next) << "a gap or an overlap";
      next += block.bytes;
      if (block.state != BlockState::kActive) continue;
      requested += block.requested_bytes;
      has_small |= block.address == reinterpret_cast<std::uint64_t>(small) && !segment.is_large;
      has_large |= block.address == reinterpret_cast<std::uint64_t>(large) && segment.is_large;
    }
    EXPECT_EQ(next, segment.address + segment.bytes);
  }
  EXPECT_EQ(requested, 700U + (3 << 20));
  EXPECT_TRUE(has_small);
  EXPECT_TRUE(has_large);
  ASSERT_EQ(snapshot.device_traces.size(), 1U);
  std::size_t allocations = 0;
  std::size_t completed = 0;
  for (const SnapshotEvent& event : snapshot.device_traces[0]) {
    allocations += event.action == SnapshotAction::kAllocate ? 1 : 0;
    if (event.action != SnapshotAction::kFreeCompleted) continue;
    ++completed;
    EXPECT_EQ(event.bytes, 3U << 20) << "paired with its allocation";
  }
  EXPECT_EQ(allocations, 3U);
  EXPECT_EQ(completed, 1U);
  EXPECT_TRUE(allocator_.try_deallocate(small).is_ok());
  EXPECT_TRUE(allocator_.try_deallocate(large).is_ok());
}

TEST_F(AllocatorViews, StatisticsSayWhatWasAskedForAndWhatIsHeld) {
  void* const small = allocate(700, stream_);
  void* const large = allocate(3 << 20, stream_);
  const MemoryStatistics statistics = memory_statistics(allocator_.statistics());
  EXPECT_EQ(statistics.allocation.all.current, 2U);
  EXPECT_EQ(statistics.requested_bytes.small_pool.current, 700U);
  EXPECT_EQ(statistics.requested_bytes.large_pool.current, 3U << 20);
  EXPECT_GE(statistics.reserved_bytes.all.current, statistics.allocated_bytes.all.current);
  EXPECT_TRUE(allocator_.try_deallocate(small).is_ok());
  EXPECT_TRUE(allocator_.try_deallocate(large).is_ok());
}
}  // namespace
}  // namespace drey::cuda::trace
