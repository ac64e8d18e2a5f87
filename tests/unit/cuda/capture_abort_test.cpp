// capture_abort_test.cpp: captures that end badly, at each of their steps and in every way there is: given up,
// left by an exception, broken by a call, unjoined, with blocks that live on. Whatever happens, the memory,
// the pool's uses and the driver's counts are as before.
// SPDX-License-Identifier: MIT
#include "unit/cuda/capture_fixture.hpp"

#include <stdexcept>
#include <vector>

namespace drey::cuda {
namespace {
// What is there without the capture.
struct Before {
  explicit Before(CaptureFixture& fixture)
      : counts(fixture.device.simulator.counts()), held(fixture.held_after_trim()) {}
  void expect_again(CaptureFixture& fixture, const std::string& what) const {
    EXPECT_EQ(fixture.allocator.memory_split().pools, 0U) << what;
    EXPECT_EQ(fixture.allocator.memory_split().live, 0U) << what;
    EXPECT_EQ(fixture.held_after_trim(), held) << what;
    const sim::Counts now = fixture.device.simulator.counts();
    EXPECT_EQ(now.graphs, counts.graphs) << what;
    EXPECT_EQ(now.captures, counts.captures) << what;
    EXPECT_EQ(now.handles, counts.handles) << what;
    EXPECT_TRUE(fixture.allocator.invariants_hold()) << what;
    // Magazines are open again, events are asked again.
    void* const block = fixture.allocate(1000, fixture.a);
    fixture.free(block, fixture.a);
    const std::uint64_t calls = fixture.calls();
    const Allocation hit = fixture.allocator.try_allocate(1000, 256, fixture.a);
    EXPECT_EQ(fixture.calls(), calls) << what;
    EXPECT_EQ(hit.pointer, block) << what;
    AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(hit.pointer));
  }
  sim::Counts counts;
  std::uint64_t held;
};

// Steps of a capture with two branches, one after the other.
class Steps {
 public:
  static constexpr int kCount = 10;
  Steps(CaptureFixture& fixture, PoolId pool) : fixture_(fixture), pool_(pool) {}

  void take(int step) {
    switch (step) {
      case 0:
        return add(fixture_.captured(3 * kMiB, fixture_.a, pool_));
      case 1:
        return add(fixture_.captured(1000, fixture_.a, pool_));
      case 2:
        return fixture_.order(fixture_.a, fixture_.b);
      case 3:
        return add(fixture_.captured(40'000, fixture_.b, pool_));
      case 4:
        return record();
      case 5:
        return fixture_.free(take_one(), fixture_.a);
      case 6:
        return add(fixture_.captured(2 * kMiB, fixture_.b, pool_));
      case 7:
        return fixture_.free(take_one(), fixture_.b);
      case 8:
        return fixture_.order(fixture_.b, fixture_.a);
      default:
        return add(fixture_.captured(9 * kMiB, fixture_.a, pool_));
    }
  }
  /// As tensors that outlive the capture.
  void free_rest(Stream stream) {
    for (void* block : blocks_) fixture_.free(block, stream);
    blocks_.clear();
  }

 private:
  void add(void* block) { blocks_.push_back(block); }
  void* take_one() {
    void* const block = blocks_.front();
    blocks_.erase(blocks_.begin());
    return block;
  }
  void record() {
    const DevicePointer block = AllocatorFixture::number_of(blocks_[0]);
    fixture_.device.simulator.block_used(block, fixture_.b, false);
    AllocatorFixture::expect_ok(fixture_.allocator.record_stream(blocks_[0], fixture_.b));
  }

  CaptureFixture& fixture_;
  PoolId pool_;
  std::vector<void*> blocks_;
};

enum class End { kGivenUp, kBroken, kUnjoined, kThrown };

void run_until(CaptureFixture& fixture, Steps& steps, PoolId pool, int last, End end) {
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  fixture.begin(scope, fixture.a, pool);
  for (int step = 0; step <= last; ++step) steps.take(step);
  if (end == End::kThrown) throw std::runtime_error("in the middle of a capture");
  if (end == End::kGivenUp) return;
  if (end == End::kBroken) {
    EXPECT_EQ(fixture.device.driver.stream_synchronize(fixture.a), Result::kCaptureUnsupported);
    fixture.device.expect_one(sim::HazardKind::kIllegalCapture, sim::Blame::kCaller);
    EXPECT_EQ(fixture.allocator.try_allocate(1000, 256, fixture.a).outcome.status,
              Status::kCaptureForbids);
    steps.free_rest(fixture.a);  // destructors run before the capture is ended
  }
  if (end == End::kUnjoined) {
    fixture.order(fixture.a, fixture.b);
    fixture.device.expect(fixture.device.simulator.launch(fixture.b, {}, "never joined"));
  }
  Graph graph = nullptr;
  EXPECT_EQ(scope.end(&graph).status, Status::kDriver);
  EXPECT_EQ(graph, nullptr);
}

class CaptureAborts : public ::testing::TestWithParam<End> {};

TEST_P(CaptureAborts, GiveEverythingBackAtEachStep) {
  for (int last = -1; last < Steps::kCount; ++last) {
    for (const bool is_released_first : {true, false}) {
      CaptureFixture fixture;
      const Before before(fixture);
      const PoolId pool = fixture.new_pool();
      Steps steps(fixture, pool);
      try {
        run_until(fixture, steps, pool, last, GetParam());
      } catch (const std::runtime_error&) {
        EXPECT_EQ(GetParam(), End::kThrown);
      }
      const auto release = [&] {
        AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
      };
      if (is_released_first) release();
      steps.free_rest(fixture.b);
      if (!is_released_first) release();
      before.expect_again(fixture, "after step " + std::to_string(last));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, CaptureAborts,
                         ::testing::Values(End::kGivenUp, End::kBroken, End::kUnjoined,
                                           End::kThrown));

TEST(CaptureAborts, OfOneCaptureLeaveThePoolsOtherGraphAlone) {
  CaptureFixture fixture;
  const PoolId pool = fixture.new_pool();
  CaptureScope first(fixture.allocator, fixture.device.driver);
  fixture.begin(first, fixture.a, pool);
  void* const block = fixture.captured(3 * kMiB, fixture.a, pool);
  fixture.free(block, fixture.a);
  GraphExec exec = fixture.end(first);
  {
    CaptureScope second(fixture.allocator, fixture.device.driver);
    fixture.begin(second, fixture.a, pool);
    EXPECT_EQ(fixture.captured(3 * kMiB, fixture.a, pool), block);
    fixture.free(block, fixture.a);
  }
  fixture.replay(exec, fixture.a);
  const PoolScope eager(fixture.allocator, pool);
  void* const other = fixture.allocate(3 * kMiB, fixture.b);
  EXPECT_NE(other, block);
  fixture.replay(exec, fixture.a);
}

TEST(CaptureAborts, LeaveNothingIfTheCaptureDidNotEvenBegin) {
  CaptureFixture fixture;
  const Before before(fixture);
  const PoolId pool = fixture.new_pool();
  CaptureScope scope(fixture.allocator, fixture.device.driver);
  EXPECT_EQ(scope.begin(nullptr, CaptureMode::kGlobal, pool).status, Status::kDriver);
  EXPECT_EQ(scope.begin(fixture.a, CaptureMode::kGlobal, {}).status, Status::kInvalidPool);
  Graph graph = nullptr;
  EXPECT_EQ(scope.end(&graph).status, Status::kInvalidPool);
  AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
  before.expect_again(fixture, "not begun");
}

// Each driver call of a capture fails once: what the capture has or not, nothing is left behind.
TEST(CaptureAborts, GiveEverythingBackWhicheverDriverCallFails) {
  std::uint64_t call = 1;
  for (bool is_reached = true; is_reached; ++call) {
    CaptureFixture fixture;
    const Before before(fixture);
    const PoolId pool = fixture.new_pool();
    const std::uint64_t first = fixture.calls();
    fixture.device.simulator.faults().fail_nth(call, Result::kUnknown);
    {
      CaptureScope scope(fixture.allocator, fixture.device.driver);
      if (scope.begin(fixture.a, CaptureMode::kGlobal, pool).is_ok()) {
        std::vector<void*> blocks;
        for (const std::size_t bytes : {std::size_t{1000}, 3 * kMiB, 40 * kMiB}) {
          const Allocation made = fixture.allocator.try_allocate(bytes, 256, fixture.a);
          if (made.pointer != nullptr) blocks.push_back(made.pointer);
        }
        for (void* block : blocks) {
          if (!fixture.allocator.try_deallocate(block, fixture.a).is_ok())
            AllocatorFixture::expect_ok(fixture.allocator.try_deallocate(block, fixture.a));
        }
        Graph graph = nullptr;
        if (scope.end(&graph).is_ok()) {
          while (fixture.device.driver.graph_destroy(graph) == Result::kUnknown) continue;
          AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool, fixture.a));
        }
      }
    }
    is_reached = fixture.calls() - first >= call;
    fixture.device.simulator.faults().clear();
    fixture.device.simulator.forget_hazards();
    AllocatorFixture::expect_ok(fixture.allocator.release_pool(pool));
    before.expect_again(fixture, "call " + std::to_string(call));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(call, 20U);
}
}  // namespace
}  // namespace drey::cuda
