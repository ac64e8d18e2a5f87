// capture_pools_test.cpp: memory in captures: whose it is while the graph is captured, replayed and gone, where a
// graph allows it to be used twice, and that nothing is left of a capture that was given up or broke.
// SPDX-License-Identifier: MIT
#include "unit/cuda/capture_fixture.hpp"

#include <thread>
#include <vector>

namespace drey::cuda {
namespace {
constexpr std::size_t kBlock = 3 * kMiB;

TEST(CapturePools, KeepTheMemoryOfAGraphUntilItIsReleased) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  void* const block = fixture.captured(kBlock, fixture.a, pool);
  fixture.free(block, fixture.a);
  GraphExec exec = fixture.end(scope);
  EXPECT_GE(fixture.allocator.memory_split().pools, kBlock);
  for (int turn = 0; turn < 3; ++turn) {
    fixture.replay(exec, fixture.a);
    void* const other = fixture.allocate(kBlock, fixture.a);
    EXPECT_NE(other, block);
    fixture.free(other, fixture.a);
  }
  EXPECT_GE(fixture.held_after_trim(), kBlock) << "trimming leaves the graph its memory";
  fixture.device.expect(fixture.device.driver.graph_exec_destroy(exec));
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
  EXPECT_GE(fixture.allocator.memory_split().pools, kBlock) << "the graph has a use of its own";
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
  EXPECT_EQ(fixture.allocator.memory_split().pools, 0U);
  EXPECT_EQ(fixture.held_after_trim(), 0U);
  EXPECT_EQ(fixture.allocator.release_pool(pool).status, Status::kInvalidPool);
}

TEST(CapturePools, GiveAStreamOfACaptureItsOwnMemoryAgain) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  void* const first = fixture.captured(kBlock, fixture.a, pool);
  const std::uint64_t maps = fixture.calls("cuMemMap");
  for (int turn = 0; turn < 20; ++turn) {
    fixture.free(first, fixture.a);
    EXPECT_EQ(fixture.captured(kBlock, fixture.a, pool), first);
  }
  EXPECT_EQ(fixture.calls("cuMemMap"), maps);
  fixture.free(first);
  EXPECT_EQ(fixture.captured(kBlock, fixture.a, pool), first) << "freed without a stream";
  GraphExec exec = fixture.end(scope);
  fixture.replay(exec, fixture.b);
  fixture.replay(exec, fixture.b);
  fixture.free(first, fixture.b);
}

TEST(CapturePools, GiveMemoryToAnotherBranchOnlyWhereTheGraphOrdersIt) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  fixture.order(fixture.a, fixture.b);
  void* const block = fixture.captured(kBlock, fixture.a, pool);
  fixture.free(block, fixture.a);
  void* const beside = fixture.captured(kBlock, fixture.b, pool);
  EXPECT_NE(beside, block) << "b joined before the block was used";
  fixture.order(fixture.a, fixture.b);
  void* const behind = fixture.captured(kBlock, fixture.b, pool);
  EXPECT_EQ(behind, block);
  fixture.free(behind, fixture.b);
  void* const again = fixture.captured(kBlock, fixture.a, pool);
  EXPECT_NE(again, block) << "a does not come after b's use";
  fixture.order(fixture.b, fixture.a);
  EXPECT_EQ(fixture.captured(kBlock, fixture.a, pool), block);
  GraphExec exec = fixture.end(scope);
  fixture.replay(exec, fixture.a);
}

TEST(CapturePools, KnowTheOrderOfLongWaysThroughTheGraph) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  fixture.order(fixture.a, fixture.b);
  void* const block = fixture.captured(kBlock, fixture.a, pool);
  fixture.free(block, fixture.a);
  for (int node = 0; node < 3000; ++node)
    fixture.device.expect(fixture.device.simulator.launch(fixture.a, {}, "between"));
  fixture.order(fixture.a, fixture.b);
  const std::uint64_t before = fixture.calls("cuGraphNodeGetDependencies");
  EXPECT_EQ(fixture.captured(kBlock, fixture.b, pool), block);
  EXPECT_GE(fixture.calls("cuGraphNodeGetDependencies") - before, 3000U);
  const std::uint64_t walked = fixture.calls("cuGraphNodeGetDependencies");
  fixture.free(block, fixture.b);
  EXPECT_EQ(fixture.captured(kBlock, fixture.b, pool), block);
  EXPECT_LT(fixture.calls("cuGraphNodeGetDependencies") - walked, 8U) << "each node once";
  fixture.order(fixture.b, fixture.a);
  fixture.end(scope);
}

TEST(CapturePools, TakeRecordedUsesFromTheGraph) {
  for (const bool is_precise : {false, true}) {
    CaptureFixture fixture;
    const PoolId pool = fixture.new_pool();
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pool);
    void* const block = fixture.captured(kBlock, fixture.a, pool);
    fixture.order(fixture.a, fixture.b);
    fixture.device.launch(fixture.b, AllocatorFixture::number_of(block), kBlock, "in b");
    fixture.device.simulator.block_used(AllocatorFixture::number_of(block), fixture.b, is_precise);
    const std::uint64_t events = fixture.calls("cuEventRecord");
    AllocatorFixture::expect_ok(is_precise ? fixture.allocator.record_use(block, fixture.b)
                                           : fixture.allocator.record_stream(block, fixture.b));
    EXPECT_EQ(fixture.calls("cuEventRecord"), events);
    fixture.device.launch(fixture.b, AllocatorFixture::number_of(block), is_precise ? 0 : 1,
                          "more");
    fixture.free(block, fixture.a);
    EXPECT_NE(fixture.captured(kBlock, fixture.a, pool), block);
    fixture.order(fixture.b, fixture.a);
    EXPECT_EQ(fixture.captured(kBlock, fixture.a, pool), block);
    fixture.replay(fixture.end(scope), fixture.a);
  }
}

TEST(CapturePools, TakeARecordedStreamAsUsedUntilTheFree) {
  for (const bool is_precise : {false, true}) {
    CaptureFixture fixture;
    const PoolId pool = fixture.new_pool();
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pool);
    void* const block = fixture.captured(kBlock, fixture.a, pool);
    fixture.order(fixture.a, fixture.b);
    fixture.device.simulator.block_used(AllocatorFixture::number_of(block), fixture.b, is_precise);
    AllocatorFixture::expect_ok(is_precise ? fixture.allocator.record_use(block, fixture.b)
                                           : fixture.allocator.record_stream(block, fixture.b));
    fixture.order(fixture.b, fixture.a);
    fixture.device.launch(fixture.b, AllocatorFixture::number_of(block), is_precise ? 0 : 1,
                          "late");
    fixture.free(block, fixture.a);
    EXPECT_EQ(fixture.captured(kBlock, fixture.a, pool) == block, is_precise);
    fixture.order(fixture.b, fixture.a);
    fixture.replay(fixture.end(scope), fixture.a);
  }
}

TEST(CapturePools, DoNotTrustAStreamWhoseDependenciesWereReplaced) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  void* const block = fixture.captured(kBlock, fixture.a, pool);
  fixture.free(block, fixture.a);
  // The next work of the stream depends on nothing: a second branch in the same stream.
  fixture.device.expect(fixture.device.driver.stream_update_capture_dependencies(
      fixture.a, nullptr, nullptr, 0, kSetCaptureDependencies));
  void* const other = fixture.captured(kBlock, fixture.a, pool);
  EXPECT_NE(other, block);
  fixture.replay(fixture.end(scope), fixture.a);
}

TEST(CapturePools, OfSeveralCapturesShareWhatTheEarlierOnesGaveBack) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  GraphExec execs[2] = {};
  void* blocks[2] = {};
  for (int number = 0; number < 2; ++number) {
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pool);
    blocks[number] = fixture.captured(kBlock, fixture.a, pool);
    fixture.free(blocks[number], fixture.a);
    execs[number] = fixture.end(scope);
  }
  EXPECT_EQ(blocks[0], blocks[1]);
  for (int turn = 0; turn < 4; ++turn) fixture.replay(execs[turn % 2], fixture.a);
  PoolScope eager(fixture.allocator, pool);
  const Allocation made = fixture.allocator.try_allocate(kBlock, 256, fixture.a);
  EXPECT_NE(made.pointer, blocks[0]) << "outside of captures nothing comes after all replays";
  AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(made.pointer));
}

TEST(CapturePools, OfOneGraphAreNoOtherGraphs) {
  CaptureFixture fixture;
  GraphExec execs[2] = {};
  for (GraphExec& exec : execs) {
    const PoolId pool = fixture.new_pool();
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pool);
    fixture.free(fixture.captured(100'000, fixture.a, pool), fixture.a);
    fixture.free(fixture.captured(kBlock, fixture.a, pool), fixture.a);
    exec = fixture.end(scope);
  }
  fixture.replay(execs[0], fixture.a);
  fixture.replay(execs[1], fixture.b);
}

TEST(CapturePools, AreNotBrokenByOtherThreadsThatAllocate) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  void* const kept = fixture.allocate(kBlock, fixture.b);
  fixture.free(kept, fixture.b);
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  std::thread([&] {
    fixture.device.expect(fixture.device.driver.ctx_set_current(fixture.device.context));
    std::vector<void*> blocks;
    for (std::size_t bytes = 1000; bytes < 40 * kMiB; bytes *= 3) {
      blocks.push_back(fixture.allocate(bytes, fixture.b));
      AllocatorFixture::expect_ok(fixture.allocator.record_use(blocks.back(), nullptr));
    }
    for (void* block : blocks) fixture.free(block, fixture.b);
    EXPECT_EQ(fixture.allocator.trim_to(0).status, Status::kCaptureForbids);
    EXPECT_EQ(fixture.allocator.sleep().status, Status::kCaptureForbids);
  }).join();
  fixture.free(fixture.captured(kBlock, fixture.a, pool), fixture.a);
  fixture.replay(fixture.end(scope), fixture.a);
}

TEST(CapturePools, RefuseCapturesThatTheyWereNotToldOf) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  void* const outside = fixture.allocate(kBlock, fixture.b);
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  fixture.device.expect(
      fixture.device.driver.stream_begin_capture(fixture.b, CaptureMode::kThreadLocal));
  EXPECT_EQ(fixture.allocator.try_allocate(1000, 256, fixture.b).outcome.status,
            Status::kCaptureForbids);
  EXPECT_EQ(fixture.allocator.try_deallocate(outside, fixture.b).status, Status::kCaptureForbids);
  EXPECT_EQ(fixture.allocator.record_use(outside, fixture.b).status, Status::kCaptureForbids);
  CaptureId other;
  AllocatorFixture::expect_ok(fixture.allocator.begin_capture(pool, &other));
  EXPECT_EQ(fixture.allocator.bind_capture(other, fixture.a).status, Status::kInvalidStream)
      << "it is the first capture's";
  AllocatorFixture::expect_ok(fixture.allocator.bind_capture(other, fixture.b));
  void* const inside = fixture.captured(1000, fixture.b, pool);
  fixture.free(inside, fixture.b);
  Graph graph = nullptr;
  fixture.device.expect(fixture.device.driver.stream_end_capture(fixture.b, &graph));
  AllocatorFixture::expect_ok(fixture.allocator.end_capture(other, true));
  EXPECT_EQ(fixture.allocator.end_capture(other, true).status, Status::kInvalidPool);
  EXPECT_EQ(fixture.allocator.bind_capture(other, fixture.b).status, Status::kInvalidPool);
  fixture.end(scope);
  fixture.free(outside, fixture.b);
}

TEST(CapturePools, SayThatThereIsNoMemoryAndKeepTheCapture) {
  CaptureFixture fixture({}, allocator_device(16));
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  void* const block = fixture.captured(20 * kMiB, fixture.a, pool);
  OomReport report;
  const Allocation none = fixture.allocator.try_allocate(20 * kMiB, 256, fixture.a, &report);
  EXPECT_EQ(none.outcome.status, Status::kOutOfMemory);
  EXPECT_EQ(report.split.live, 20 * kMiB);
  fixture.free(block, fixture.a);
  EXPECT_EQ(fixture.captured(20 * kMiB, fixture.a, pool), block);
  fixture.replay(fixture.end(scope), fixture.a);
}

TEST(CapturePools, WaitForReplaysOnlyIfNobodySaysWhereTheyEnd) {
  for (const bool is_told : {false, true}) {
    CaptureFixture fixture;
    const PoolId pool = fixture.new_pool();
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pool);
    void* const block = fixture.captured(kBlock, fixture.a, pool);
    fixture.free(block, fixture.a);
    GraphExec exec = fixture.end(scope);
    fixture.replay(exec, fixture.b);
    fixture.device.expect(fixture.device.driver.graph_exec_destroy(exec));
    AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
    const std::uint64_t waits = fixture.calls("cuCtxSynchronize");
    AllocatorFixture::expect_ok(is_told ? fixture.allocator.release_pool(pool, fixture.b)
                                        : fixture.allocator.release_pool(pool));
    EXPECT_EQ(fixture.calls("cuCtxSynchronize") - waits, is_told ? 0U : 1U);
    EXPECT_EQ(fixture.allocator.memory_split().pools, 0U);
    EXPECT_EQ(fixture.allocate(kBlock, fixture.b), block);
    void* const other = fixture.allocate(kBlock, fixture.a);
    EXPECT_NE(other, block);
  }
}

TEST(CapturePools, ReleasedDuringACaptureAreEmptiedAfterIt) {
  CaptureFixture fixture;
  const PoolId pools[] = {fixture.new_pool(), fixture.new_pool()};
  GraphExec exec = nullptr;
  {
    CaptureScope scope(fixture.allocator, fixture.device.driver);
    fixture.begin(scope, fixture.a, pools[0]);
    fixture.free(fixture.captured(kBlock, fixture.a, pools[0]), fixture.a);
    exec = fixture.end(scope);
  }
  fixture.replay(exec, fixture.b);
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pools[1]);
  fixture.device.expect(fixture.device.driver.graph_exec_destroy(exec));
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(pools[0]));
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(pools[0], fixture.b));
  EXPECT_GE(fixture.allocator.memory_split().pools, kBlock);
  fixture.free(fixture.captured(1000, fixture.a, pools[1]), fixture.a);
  fixture.end(scope);
  EXPECT_LT(fixture.allocator.memory_split().pools, kBlock);
}

TEST(CapturePools, MarkedForItServeWhoHasNoMemory) {
  for (const bool is_for_oom : {false, true}) {
    CaptureFixture fixture({}, allocator_device(16));
    const PoolId pool = fixture.new_pool(is_for_oom);
    const Allocation made = fixture.allocator.try_allocate_in(pool, 20 * kMiB, 256, fixture.a);
    AllocatorFixture::expect_ok(made.outcome);
    AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(made.pointer));
    const Allocation wanted = fixture.allocator.try_allocate(24 * kMiB, 256, fixture.b);
    EXPECT_EQ(wanted.outcome.status, is_for_oom ? Status::kOk : Status::kOutOfMemory);
    const Statistics counts = fixture.allocator.statistics();
    EXPECT_EQ(counts.served_by[static_cast<std::size_t>(LadderStep::kPools)], is_for_oom ? 1U : 0U);
    AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(wanted.pointer));
  }
}

TEST(CapturePools, MarkedForItKeepWhatGraphsUse) {
  CaptureFixture fixture({}, allocator_device(16));
  const PoolId pool = fixture.new_pool(true);
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  fixture.free(fixture.captured(20 * kMiB, fixture.a, pool), fixture.a);
  GraphExec exec = fixture.end(scope);
  EXPECT_EQ(fixture.allocator.try_allocate(24 * kMiB, 256, fixture.b).outcome.status,
            Status::kOutOfMemory);
  fixture.replay(exec, fixture.a);
}
}  // namespace
}  // namespace drey::cuda
