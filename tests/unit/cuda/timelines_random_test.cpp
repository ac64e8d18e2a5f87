// timelines_random_test.cpp: a small allocator of equal blocks that believes the timelines, driven at
// random: streams of all kinds that come and go, with and without a word, blocks used on several streams,
// waits of the program's own. The simulated device knows the true order and must find no hazard; an
// allocator that skips one of the rules must be found out.
// SPDX-License-Identifier: MIT
#include "timeline/timelines.hpp"

#include "support/seed.hpp"
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace drey::cuda {
namespace {
using sim::SimulatedDevice;
constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kBlocks = 48;

/// A rule that is left out.
enum class Mutant {
  kNone,
  kNoOrder,           // other streams' blocks are taken as they are
  kFreeStampOnly,     // uses on other streams are not stamped
  kHandleIsStream,    // a handle made again is taken for the same stream
  kWaitBeforeMark,    // the mark is set after the event that the program waits for
  kCompleteIsIssued,  // an event that was recorded counts as one that is complete
};

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, Mutant mutant, sim::Schedule schedule)
      : mutant_(mutant), device_({.schedule = schedule, .seed = seed}), random_(seed) {
    SimulatedDevice::expect(lines_.open(device_.driver, {}));
    for (std::size_t index = 0; index < kBlocks; ++index)
      blocks_.push_back({device_.new_memory(kBlockBytes), {}, {}, false});
    streams_ = {nullptr, per_thread_stream()};
    indices_ = {find(nullptr), find(per_thread_stream())};
    for (unsigned flags : {0U, 0U, 1U, 1U, 1U, 1U}) add_stream(flags);
  }
  ~RandomProgram() { SimulatedDevice::expect(lines_.close()); }
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  void step() {
    const std::size_t kind = random_.below(100);
    Block& block = blocks_[random_.below(kBlocks)];
    if (kind < 2) {
      replace_stream();
    } else if (kind < 6) {
      wait_of_the_program();
    } else if (kind < 8) {
      SimulatedDevice::expect(lines_.poll());
    } else if (!block.is_live) {
      allocate(block);
    } else if (kind < 50) {
      use(block);
    } else {
      free(block);
    }
    EXPECT_TRUE(random_.below(64) != 0 || lines_.invariants_hold());
  }

  [[nodiscard]] const std::vector<sim::Hazard>& hazards() { return device_.simulator.hazards(); }
  [[nodiscard]] std::string report() const { return device_.simulator.report(); }
  [[nodiscard]] const TimelineCounts& counts() const { return lines_.counts(); }
  [[nodiscard]] std::uint64_t handed_over() const { return handed_over_; }

 private:
  struct Block {
    DevicePointer memory = 0;
    std::size_t slot = 0;       // of its stream, while it is live
    std::vector<Stamp> stamps;  // not before these
    bool is_live = false;
    Stream stream = nullptr;
    StreamIndex index = {};
    bool is_orphan = false;  // its stream was destroyed: no more uses there
  };

  StreamIndex find(Stream stream) {
    StreamIndex index;
    SimulatedDevice::expect(lines_.find(stream, &index));
    return index;
  }

  void add_stream(unsigned flags) {
    streams_.push_back(device_.new_stream(flags));
    indices_.push_back(find(streams_.back()));
  }

  void replace_stream() {
    const std::size_t slot = 2 + random_.below(streams_.size() - 2);
    // Retired properly, the handle's next stream would be seen to be another one.
    if (random_.below(2) == 0 && mutant_ != Mutant::kHandleIsStream)
      SimulatedDevice::expect(lines_.retire(indices_[slot]));
    SimulatedDevice::expect(device_.driver.stream_destroy(streams_[slot]));
    for (Block& block : blocks_) block.is_orphan = block.is_orphan || block.slot == slot;
    streams_[slot] = device_.new_stream(random_.below(2) == 0 ? 0 : kStreamNonBlocking);
    if (mutant_ != Mutant::kHandleIsStream) indices_[slot] = find(streams_[slot]);
  }

  // The program orders two streams by an event of its own, and says so.
  void wait_of_the_program() {
    const std::size_t waited = random_.below(streams_.size());
    const std::size_t waiter = random_.below(streams_.size());
    if (program_event_ == nullptr) program_event_ = device_.new_event();
    Stamp mark;
    if (mutant_ != Mutant::kWaitBeforeMark) mark = lines_.mark(indices_[waited]);
    device_.record(program_event_, streams_[waited]);
    if (mutant_ == Mutant::kWaitBeforeMark) {
      for (Block& block : blocks_) {
        if (!block.is_live || block.slot != waited || block.is_orphan) continue;
        device_.launch(block.stream, block.memory, kBlockBytes, "late use");
        free(block);
      }
      mark = lines_.mark(indices_[waited]);
    }
    device_.wait(streams_[waiter], program_event_);
    lines_.note_wait(indices_[waiter], mark);
  }

  void order(StreamIndex user, Stamp stamp) {
    if (mutant_ == Mutant::kNoOrder || lines_.is_ordered(user, stamp)) return;
    if (mutant_ == Mutant::kCompleteIsIssued) {
      static_cast<void>(lines_.close_epoch(stamp.stream));
      return;
    }
    if (random_.below(4) == 0) SimulatedDevice::expect(lines_.poll());
    const Result result =
        random_.below(8) == 0 ? lines_.complete(stamp) : lines_.make_ordered(user, stamp);
    if (result == Result::kInvalidHandle) {
      SimulatedDevice::expect(lines_.complete(stamp));
    } else {
      SimulatedDevice::expect(result);
    }
    EXPECT_TRUE(lines_.is_ordered(user, stamp));
  }

  void allocate(Block& block) {
    block.slot = random_.below(streams_.size());
    block.stream = streams_[block.slot];
    block.index = indices_[block.slot];
    for (const Stamp stamp : block.stamps) {
      if (!(stamp.stream == block.index)) ++handed_over_;
      order(block.index, stamp);
    }
    block.stamps.clear();
    block.is_live = true;
    block.is_orphan = false;
    device_.simulator.block_allocated(block.memory, kBlockBytes, block.stream);
    device_.launch(block.stream, block.memory, kBlockBytes, "first use");
  }

  void use(Block& block) {
    if (block.is_orphan) return;
    if (random_.below(3) != 0) {
      device_.launch(block.stream, block.memory, kBlockBytes, "use");
      return;
    }
    // On another stream, which the program makes wait; the use is recorded at its end.
    const std::size_t other = random_.below(streams_.size());
    if (program_event_ == nullptr) program_event_ = device_.new_event();
    device_.record(program_event_, block.stream);
    device_.wait(streams_[other], program_event_);
    device_.launch(streams_[other], block.memory, kBlockBytes, "use elsewhere");
    device_.simulator.block_used(block.memory, streams_[other], true);
    if (mutant_ != Mutant::kFreeStampOnly) block.stamps.push_back(lines_.now(indices_[other]));
  }

  void free(Block& block) {
    device_.simulator.block_freed(block.memory);
    block.stamps.push_back(lines_.now(block.index));
    block.is_live = false;
    SimulatedDevice::expect(ignore_gone(lines_.note_free(block.index, kBlockBytes)));
  }

  static Result ignore_gone(Result result) {
    return result == Result::kInvalidHandle ? Result::kSuccess : result;
  }

  Mutant mutant_;
  SimulatedDevice device_;
  test::Random random_;
  Timelines lines_;
  std::vector<Block> blocks_;
  std::vector<Stream> streams_;
  std::vector<StreamIndex> indices_;
  Event program_event_ = nullptr;
  std::uint64_t handed_over_ = 0;
};

TEST(TimelinesRandom, NoBlockIsReusedTooSoon) {
  const std::uint64_t seed = test::test_seed(20);
  for (const sim::Schedule schedule :
       {sim::Schedule::kNever, sim::Schedule::kRandom, sim::Schedule::kEager}) {
    for (std::uint64_t run = 0; run < 4; ++run) {
      RandomProgram program(seed + run, Mutant::kNone, schedule);
      for (std::size_t step = 0; step < test::scaled(50'000); ++step) {
        program.step();
        ASSERT_TRUE(program.hazards().empty()) << program.report();
      }
      EXPECT_GT(program.handed_over(), 1000U) << "hardly any block changed its stream";
      EXPECT_GT(program.counts().waits_inserted, 100U);
    }
  }
}

class TimelinesMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(TimelinesMutant, IsFound) {
  const std::uint64_t seed = test::test_seed(20);
  RandomProgram program(seed, GetParam(), sim::Schedule::kNever);
  for (std::size_t step = 0; step < 20'000 && program.hazards().empty(); ++step) program.step();
  ASSERT_FALSE(program.hazards().empty())
      << "the rule that was left out is not needed, or not tested";
  EXPECT_EQ(program.hazards()[0].kind, sim::HazardKind::kReuse) << program.report();
  EXPECT_EQ(program.hazards()[0].blame, sim::Blame::kAllocator) << program.report();
}

INSTANTIATE_TEST_SUITE_P(OfRules, TimelinesMutant,
                         ::testing::Values(Mutant::kNoOrder, Mutant::kFreeStampOnly,
                                           Mutant::kHandleIsStream, Mutant::kWaitBeforeMark,
                                           Mutant::kCompleteIsIssued));
}  // namespace
}  // namespace drey::cuda
