// capture_random_test.cpp: random programs that capture graphs with memory of pools, replay them, break and give
// captures up, and use the allocator outside of them all the while. They keep the contract, so every hazard is
// the allocator's; at the end nothing is left. One seed, one program.
// 1e6 operations: DREY_TEST_SCALE=30.
// SPDX-License-Identifier: MIT
#include "support/seed.hpp"
#include "unit/cuda/capture_fixture.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace drey::cuda {
namespace {
class CaptureProgram {
 public:
  CaptureProgram(std::uint64_t seed, const AllocatorConfig& config,
                 const sim::Config& device_config)
      : fixture_(config, device_config), random_(seed) {
    for (int number = 0; number < 6; ++number)
      streams_.push_back({fixture_.device.new_stream(), -1});
    for (PoolUser& pool : pools_) renew(pool);
  }

  void step() {
    const std::size_t kind = random_.below(100);
    if (kind < 5) return begin();
    if (kind < 8) return end();
    if (kind < 14) return join();
    if (kind < 22) return replay();
    if (kind < 25) return drop_graph();
    if (kind < 27) return renew(pools_[random_.below(kPools)]);
    if (kind < 60) return allocate();
    if (kind < 75) return use();
    free_any();
  }
  void finish() {
    for (int number = 0; number < kCaptures; ++number) {
      if (captures_[number].has_value()) give_up(number);
    }
    while (!graphs_.empty()) drop_graph();
    while (!blocks_.empty()) free_at(0);
    for (PoolUser& pool : pools_)
      AllocatorFixture::expect_ok(fixture_.allocator.release_pool(pool.id));
    EXPECT_EQ(fixture_.allocator.memory_split().pools, 0U);
    EXPECT_EQ(fixture_.allocator.memory_split().live, 0U);
    EXPECT_EQ(fixture_.held_after_trim(), 0U);
  }
  [[nodiscard]] std::string trouble() { return fixture_.device.simulator.report(); }
  [[nodiscard]] bool is_sound() { return fixture_.allocator.invariants_hold(); }
  struct Counts {
    std::uint64_t kept = 0, given_up = 0, broken = 0, replays = 0, captured = 0, failed = 0;
  } counts;

 private:
  static constexpr int kCaptures = 2;
  static constexpr std::size_t kPools = 3;
  struct OneStream {
    Stream handle;
    int capture;  // -1: none
  };
  struct PoolUser {
    PoolId id;
    Event last_replay = nullptr;
  };
  struct Capture {
    std::unique_ptr<CaptureScope> scope;
    std::size_t origin;
    std::size_t pool;
  };
  struct Block {
    void* pointer;
    std::size_t bytes;
    std::size_t stream;
    int capture;       // it was allocated in, while that is under way; -1: none
    std::size_t pool;  // or kPools
    Event last_replay =
        nullptr;  // of a capture: of the pool's graphs, which may use the same bytes
  };
  struct LiveGraph {
    GraphExec exec;
    std::size_t pool;
    PoolId id;  // the pool's, even if its owner has another one by now
    Event last_replay;
  };

  std::size_t any_stream() { return random_.below(streams_.size()); }
  static DevicePointer number_of(const void* pointer) {
    return AllocatorFixture::number_of(pointer);
  }

  void renew(PoolUser& pool) {
    if (pool.id.value != 0) {
      for (const auto& capture : captures_) {
        if (capture.has_value() && &pools_[capture->pool] == &pool) return;
      }
      AllocatorFixture::expect_ok(fixture_.allocator.release_pool(pool.id));
    }
    pool.id = fixture_.new_pool(random_.below(3) == 0);
    pool.last_replay = fixture_.device.new_event();
  }

  void begin() {
    const int number = static_cast<int>(random_.below(kCaptures));
    const std::size_t origin = any_stream();
    const std::size_t pool = random_.below(kPools);
    if (captures_[number].has_value() || streams_[origin].capture >= 0) return;
    // Two graphs of one pool at once would use each other's memory in no order.
    for (const auto& capture : captures_) {
      if (capture.has_value() && capture->pool == pool) return;
    }
    auto scope = std::make_unique<CaptureScope>(fixture_.allocator, fixture_.device.driver);
    const CaptureMode modes[] = {CaptureMode::kGlobal, CaptureMode::kThreadLocal,
                                 CaptureMode::kRelaxed};
    AllocatorFixture::expect_ok(
        scope->begin(streams_[origin].handle, modes[random_.below(3)], pools_[pool].id));
    captures_[number] = Capture{std::move(scope), origin, pool};
    streams_[origin].capture = number;
  }

  // Another stream comes into a capture, or one of its streams comes after another.
  void join() {
    const std::size_t from = any_stream();
    const std::size_t to = any_stream();
    const int capture = streams_[from].capture;
    if (from == to || (streams_[to].capture >= 0 && streams_[to].capture != capture)) return;
    if (capture < 0 && streams_[to].capture >= 0) return;
    fixture_.order(streams_[from].handle, streams_[to].handle);
    streams_[to].capture = capture;
  }

  void left(int number) {
    for (OneStream& stream : streams_) {
      if (stream.capture == number) stream.capture = -1;
    }
    for (Block& block : blocks_) {
      if (block.capture == number) block.capture = -1;
    }
    captures_[number].reset();
  }
  void give_up(int number) {
    ++counts.given_up;
    captures_[number]->scope->abort();
    left(number);
  }

  void end() {
    const int number = static_cast<int>(random_.below(kCaptures));
    if (!captures_[number].has_value()) return;
    Capture& capture = *captures_[number];
    const std::size_t kind = random_.below(8);
    if (kind == 0) return give_up(number);
    if (kind == 1) {
      // Broken, and noticed only at the end.
      const std::size_t hazards = fixture_.device.simulator.hazards().size();
      static_cast<void>(fixture_.device.driver.stream_query(streams_[capture.origin].handle));
      if (hazards == 0) fixture_.device.simulator.forget_hazards();
      free_some_of(number);
      ++counts.broken;
    } else {
      for (std::size_t other = 0; other < streams_.size(); ++other) {
        if (streams_[other].capture == number && other != capture.origin)
          fixture_.order(streams_[other].handle, streams_[capture.origin].handle);
      }
    }
    Graph graph = nullptr;
    const bool is_kept = capture.scope->end(&graph).is_ok();
    EXPECT_EQ(is_kept, kind != 1);
    const std::size_t pool = capture.pool;
    left(number);
    if (!is_kept) return;
    ++counts.kept;
    if (captures_[1 - number].has_value()) {
      // Instantiating would break the other one; the graph was not worth it.
      fixture_.device.expect(fixture_.device.driver.graph_destroy(graph));
      AllocatorFixture::expect_ok(fixture_.allocator.release_pool(pools_[pool].id));
      return;
    }
    GraphExec exec = nullptr;
    fixture_.device.expect(fixture_.device.driver.graph_instantiate_with_flags(&exec, graph, 0));
    fixture_.device.expect(fixture_.device.driver.graph_destroy(graph));
    graphs_.push_back({exec, pool, pools_[pool].id, pools_[pool].last_replay});
  }

  // After the last replay of the pool, wherever that was.
  void replay() {
    if (graphs_.empty()) return;
    const LiveGraph& graph = graphs_[random_.below(graphs_.size())];
    const OneStream& stream = streams_[any_stream()];
    if (stream.capture >= 0) return;
    fixture_.device.wait(stream.handle, graph.last_replay);
    fixture_.replay(graph.exec, stream.handle);
    fixture_.device.record(graph.last_replay, stream.handle);
    ++counts.replays;
  }

  void drop_graph() {
    if (graphs_.empty()) return;
    const std::size_t place = random_.below(graphs_.size());
    const LiveGraph graph = graphs_[place];
    graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(place));
    fixture_.device.expect(fixture_.device.driver.graph_exec_destroy(graph.exec));
    const OneStream& stream = streams_[any_stream()];
    if (stream.capture >= 0 || random_.below(2) == 0) {
      AllocatorFixture::expect_ok(fixture_.allocator.release_pool(graph.id));
      return;
    }
    fixture_.device.wait(stream.handle, graph.last_replay);
    AllocatorFixture::expect_ok(fixture_.allocator.release_pool(graph.id, stream.handle));
  }

  void allocate() {
    if (blocks_.size() > 48) return;
    const std::size_t stream = any_stream();
    const int capture = streams_[stream].capture;
    const std::size_t bytes =
        random_.below(2) == 0 ? 1 + random_.below(64 * kKiB) : 1 + random_.below(6 * kMiB);
    std::size_t pool = capture >= 0 ? captures_[capture]->pool : kPools;
    std::optional<PoolScope> scope;
    if (capture < 0 && random_.below(8) == 0) {
      pool = random_.below(kPools);
      scope.emplace(fixture_.allocator, pools_[pool].id);
    }
    const Allocation made = fixture_.allocator.try_allocate(bytes, 256, streams_[stream].handle);
    if (made.outcome.status == Status::kOutOfMemory ||
        made.outcome.status == Status::kCaptureForbids) {
      ++counts.failed;  // the device is small, and during a capture nothing is waited for
      return;
    }
    AllocatorFixture::expect_ok(made.outcome);
    if (made.pointer == nullptr) return;
    counts.captured += capture >= 0 ? 1 : 0;
    fixture_.device.simulator.block_allocated(number_of(made.pointer), bytes,
                                              streams_[stream].handle,
                                              pool < kPools ? pools_[pool].id.value : 0);
    blocks_.push_back({made.pointer, bytes, stream, capture, pool,
                       capture >= 0 ? pools_[pool].last_replay : nullptr});
    launch(stream, blocks_.back());
  }

  // What a graph left is read after its replay, and before the next.
  void launch(std::size_t stream, const Block& block) {
    const bool is_left = block.last_replay != nullptr && block.capture < 0;
    if (is_left) fixture_.device.wait(streams_[stream].handle, block.last_replay);
    fixture_.device.launch(streams_[stream].handle, number_of(block.pointer), block.bytes, "use");
    if (is_left) fixture_.device.record(block.last_replay, streams_[stream].handle);
  }

  // Of the block's own capture, or outside of all.
  [[nodiscard]] bool may_use(const Block& block, std::size_t stream) const {
    return streams_[stream].capture == block.capture &&
           streams_[block.stream].capture == block.capture;
  }

  void use() {
    if (blocks_.empty()) return;
    const Block& block = blocks_[random_.below(blocks_.size())];
    const std::size_t other = any_stream();
    if (!may_use(block, other)) return;
    if (other == block.stream) return launch(other, block);
    fixture_.order(streams_[block.stream].handle, streams_[other].handle);
    launch(other, block);
    const bool is_precise = random_.below(2) == 0;
    fixture_.device.simulator.block_used(number_of(block.pointer), streams_[other].handle,
                                         is_precise);
    AllocatorFixture::expect_ok(
        is_precise ? fixture_.allocator.record_use(block.pointer, streams_[other].handle)
                   : fixture_.allocator.record_stream(block.pointer, streams_[other].handle));
    if (!is_precise) launch(other, block);
  }

  void free_at(std::size_t place) {
    const Block block = blocks_[place];
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(place));
    const std::size_t other = any_stream();
    if (random_.below(2) == 0 && may_use(block, other)) {
      if (other != block.stream)
        fixture_.order(streams_[block.stream].handle, streams_[other].handle);
      return fixture_.free(block.pointer, streams_[other].handle);
    }
    fixture_.free(block.pointer);
  }
  void free_any() {
    if (!blocks_.empty()) free_at(random_.below(blocks_.size()));
  }
  void free_some_of(int capture) {
    for (std::size_t place = blocks_.size(); place-- != 0;) {
      if (blocks_[place].capture != capture || random_.below(2) == 0) continue;
      fixture_.free(blocks_[place].pointer);
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

  CaptureFixture fixture_;
  test::Random random_;
  std::vector<OneStream> streams_;
  PoolUser pools_[kPools];
  std::optional<Capture> captures_[kCaptures];
  std::vector<Block> blocks_;
  std::vector<LiveGraph> graphs_;
};

class CaptureRandom : public ::testing::TestWithParam<sim::Schedule> {};

TEST_P(CaptureRandom, FindsNoHazardAndLeavesNothing) {
  const std::uint64_t seed = test::test_seed(43);
  CaptureProgram::Counts sum;
  for (std::uint64_t number = 0; number < 4; ++number) {
    AllocatorConfig config;
    config.pages_of_large = number % 2 == 0 ? 1 : 16;
    CaptureProgram program(seed + number, config, allocator_device(48 + 64 * number, GetParam()));
    // No fewer: the counts below are what makes the run worth anything.
    const std::size_t steps = std::max<std::size_t>(test::scaled(3'000), 3'000);
    for (std::size_t step = 0; step < steps; ++step) {
      program.step();
      if (step % 8 != 0) continue;
      ASSERT_EQ(program.trouble(), "") << "seed " << seed + number << ", step " << step;
      ASSERT_TRUE(step % 512 != 0 || program.is_sound()) << "seed " << seed + number;
    }
    program.finish();
    ASSERT_EQ(program.trouble(), "") << "seed " << seed + number;
    sum.kept += program.counts.kept;
    sum.given_up += program.counts.given_up;
    sum.broken += program.counts.broken;
    sum.replays += program.counts.replays;
    sum.captured += program.counts.captured;
    sum.failed += program.counts.failed;
  }
  std::printf(
      "%llu graphs, %llu captures given up, %llu broken, %llu replays, %llu captured "
      "allocations, %llu failed\n",
      static_cast<unsigned long long>(sum.kept), static_cast<unsigned long long>(sum.given_up),
      static_cast<unsigned long long>(sum.broken), static_cast<unsigned long long>(sum.replays),
      static_cast<unsigned long long>(sum.captured), static_cast<unsigned long long>(sum.failed));
  EXPECT_GT(sum.kept, 20U);
  EXPECT_GT(sum.given_up + sum.broken, 20U);
  EXPECT_GT(sum.replays, 100U);
  EXPECT_GT(sum.captured, 500U);
}

INSTANTIATE_TEST_SUITE_P(Schedules, CaptureRandom,
                         ::testing::Values(sim::Schedule::kNever, sim::Schedule::kRandom,
                                           sim::Schedule::kEager));
}  // namespace
}  // namespace drey::cuda
