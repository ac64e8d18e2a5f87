// nccl_reduction_test.cpp: means by NCCL are those of MeanReduction within rounding, every failing call is
// named, and nothing is left behind: on the simulated device, whose checker sees memory that is not the
// device's and work that is not ordered, with a library that stands in for NCCL. SPDX-License-Identifier: MIT
#include "trainer/parallel/nccl_reduction.hpp"

#include <drey/cuda/sim/simulator.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "trainer/memory/thread_communicator.hpp"
#include "trainer/parallel/nccl_fixture.hpp"
#include "trainer/parallel/reduction.hpp"

namespace drey::trainer {
namespace {
using cuda::Result;
using cuda::sim::Simulator;

cuda::sim::Config with_contents() {
  cuda::sim::Config config;
  config.has_contents = true;
  config.memory_bytes = std::uint64_t{128} << 20;
  config.address_space_bytes = std::uint64_t{1} << 34;
  return config;
}

class NcclReductionTest : public ::testing::Test {
 protected:
  NcclReductionTest() {
    fake_.submit = [this](cuda::Stream stream, const void* base, std::size_t bytes) {
      const auto place = reinterpret_cast<std::uintptr_t>(base);
      return simulator_.launch(stream, {{place, bytes, false}, {place, bytes, true}}, "all-reduce");
    };
  }
  ~NcclReductionTest() override {
    EXPECT_EQ(simulator_.counts(), before_);
    EXPECT_EQ(fake_.live, 0u);
    fake_.submit = nullptr;
  }
  NcclReductionTest(const NcclReductionTest&) = delete;
  NcclReductionTest& operator=(const NcclReductionTest&) = delete;

  /// What a single rank complains of that connects and averages {1, 2, 3}, with what `prepare` breaks.
  template <class Prepare>
  std::string alone(Prepare prepare) {
    std::string complaint;
    test::on_ranks(1, [&](Communicator& communicator) {
      DriverSession session(Simulator::driver());
      prepare();
      std::vector<float> values = {1, 2, 3};
      complaint = test::complaint_of([&] {
        NcclReduction reduction(library_, session, values.size());
        reduction.connect(communicator);
        complaint_keeps_values(reduction, values);
      });
      simulator_.faults().clear();
    });
    return complaint;
  }
  static void complaint_keeps_values(NcclReduction& reduction, std::vector<float>& values) {
    try {
      reduction.average(values);
    } catch (...) {
      EXPECT_FALSE(reduction.is_connected());
      EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
      throw;
    }
  }

  Simulator simulator_{with_contents()};
  const cuda::sim::Counts before_ = simulator_.counts();
  test::FakeNccl& fake_ = test::fresh_fake_nccl();
  const test::NcclPath path_{DREY_FAKE_NCCL};
  const NcclApi library_ = load_nccl();
};

void compare_means(Communicator& communicator, NcclReduction& reduction, std::size_t size) {
  std::minstd_rand random(static_cast<unsigned>(communicator.rank() * 1000 + size + 1));
  std::uniform_real_distribution<float> spread(-1, 1);
  MeanReduction mean(communicator, size);
  for (int round = 0; round < 3; ++round) {
    std::vector<float> values(size);
    for (float& value : values) value = spread(random);
    std::vector<float> expected = values;
    mean.average(expected);
    reduction.average(values);
    for (std::size_t index = 0; index < size; ++index) {
      EXPECT_NEAR(values[index], expected[index], 3e-7f) << "seed " << communicator.rank() << size;
    }
    std::vector<float> all(size * communicator.size());
    communicator.gather_all(values, all);
    EXPECT_EQ(std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)),
              values);
  }
}

TEST_F(NcclReductionTest, MeansAreThoseOverMpiWithinRounding) {
  int averages = 0;
  int connections = 0;
  for (const std::size_t ranks : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{5000}}) {
      test::on_ranks(ranks, [&](Communicator& communicator) {
        DriverSession session(Simulator::driver());
        NcclReduction reduction(library_, session, size);
        reduction.connect(communicator);
        compare_means(communicator, reduction, size);
      });
      averages += 3 * static_cast<int>(ranks);
      connections += static_cast<int>(ranks);
    }
  }
  EXPECT_EQ(fake_.calls["ncclAllReduce"], averages);
  EXPECT_EQ(fake_.calls["ncclGetUniqueId"], 9);
  EXPECT_EQ(fake_.calls["ncclCommInitRank"], connections);
  EXPECT_EQ(fake_.calls["ncclCommDestroy"], connections);
  EXPECT_EQ(fake_.calls["ncclCommAbort"], 0);
  EXPECT_EQ(simulator_.report(), "");
}

TEST_F(NcclReductionTest, EveryFailingCallOfNcclIsNamed) {
  int aborted = 0;
  for (const char* const call :
       {"ncclGetUniqueId", "ncclCommInitRank", "ncclAllReduce", "ncclCommGetAsyncError"}) {
    const std::string complaint = alone([&] {
      fake_.failing = call;
      fake_.result = 6;
    });
    EXPECT_EQ(complaint, std::string("averaging by NCCL: ") + call + ": remote process exited");
    if (std::string(call) == "ncclAllReduce") aborted = 1;
    if (std::string(call) == "ncclCommGetAsyncError") aborted = 2;
    EXPECT_EQ(fake_.calls["ncclCommAbort"], aborted) << call;
  }
  fake_.failing.clear();
  EXPECT_EQ(alone([&] { fake_.later_result = 6; }),
            "averaging by NCCL: ncclAllReduce: remote process exited");
  EXPECT_EQ(fake_.calls["ncclCommAbort"], 3);
  EXPECT_EQ(fake_.calls["ncclCommDestroy"], 0);
}

TEST_F(NcclReductionTest, EveryFailingCallOfTheDriverIsNamed) {
  for (const char* const call :
       {"cuMemsetD8Async", "cuMemHostAlloc", "cuMemcpyAsync", "cuStreamSynchronize"}) {
    const std::string complaint =
        alone([&] { simulator_.faults().fail_nth(call, 1, Result::kOutOfMemory); });
    EXPECT_NE(complaint.find(std::string(call) + ": "), std::string::npos) << complaint;
  }
  const std::string complaint =
      alone([&] { simulator_.faults().fail_nth("cuMemcpyAsync", 2, Result::kOutOfMemory); });
  EXPECT_NE(complaint.find("cuMemcpyAsync: "), std::string::npos) << complaint;
  EXPECT_EQ(alone([] {}), "");
}

TEST_F(NcclReductionTest, WithoutAnIdAllRanksSayTheSame) {
  fake_.failing = "ncclGetUniqueId";
  fake_.result = 6;
  test::on_ranks(3, [&](Communicator& communicator) {
    DriverSession session(Simulator::driver());
    NcclReduction reduction(library_, session, 8);
    EXPECT_EQ(test::complaint_of([&] { reduction.connect(communicator); }),
              "averaging by NCCL: ncclGetUniqueId: remote process exited");
  });
  EXPECT_EQ(fake_.calls["ncclGetUniqueId"], 1);
  EXPECT_EQ(fake_.calls["ncclCommInitRank"], 0);
}

TEST_F(NcclReductionTest, RanksVoteBeforeTheyMeetSoNoneWaitsForOneWithoutMemory) {
  test::on_ranks(2, [&](Communicator& communicator) {
    DriverSession session(Simulator::driver());
    const std::size_t size = communicator.rank() == 1 ? std::size_t{1} << 28 : 8;
    std::optional<NcclReduction> reduction;
    const std::string complaint =
        test::complaint_of([&] { reduction.emplace(library_, session, size); });
    EXPECT_EQ(complaint.empty(), communicator.rank() == 0) << complaint;
    EXPECT_FALSE(communicator.all_agree(complaint.empty()));
  });
  EXPECT_EQ(fake_.calls["ncclGetUniqueId"], 0);
}

TEST_F(NcclReductionTest, TheStandInSeesWrongArguments) {
  NcclUniqueId id{};
  ASSERT_EQ(library_.get_unique_id(&id), kNcclSuccess);
  NcclComm* comm = nullptr;
  EXPECT_NE(library_.comm_init_rank(&comm, 1, id, 1), kNcclSuccess);
  ASSERT_EQ(library_.comm_init_rank(&comm, 1, id, 0), kNcclSuccess);
  {
    DriverSession session(Simulator::driver());
    float host[4] = {1, 2, 3, 4};
    const cuda::Stream stream = session.stream();
    EXPECT_NE(library_.all_reduce(host, host, 4, kNcclFloat + 1, kNcclSum, comm, stream), 0);
    EXPECT_NE(library_.all_reduce(host, host, 0, kNcclFloat, kNcclSum, comm, stream), 0);
    EXPECT_NE(library_.all_reduce(host, host + 2, 2, kNcclFloat, kNcclSum, comm, stream), 0);
    EXPECT_NE(library_.all_reduce(host, host, 4, kNcclFloat, kNcclSum, comm, nullptr), 0);
    EXPECT_EQ(simulator_.report(), "");
    static_cast<void>(library_.all_reduce(host, host, 4, kNcclFloat, kNcclSum, comm, stream));
    EXPECT_NE(simulator_.report(), "") << "memory of the host is no memory of the device";
  }
  EXPECT_EQ(library_.comm_destroy(comm), kNcclSuccess);
}
}  // namespace
}  // namespace drey::trainer
