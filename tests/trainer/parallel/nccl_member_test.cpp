// nccl_member_test.cpp: what --reduce nccl gives a member: two ranks that share a batch learn what one process
// learns, within rounding, by the library that stands in for NCCL and the simulated device's own library;
// and whatever is missing is said before the ranks meet.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "trainer/agent/member.hpp"
#include "trainer/memory/thread_communicator.hpp"
#include "trainer/parallel/nccl_fixture.hpp"
#include "trainer/parallel/nccl_reduction.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kWidth = 16;
constexpr std::size_t kRows = 60;

MemberSettings settings() {
  MemberSettings settings;
  settings.learner.widths = {kWidth, 24, 3};
  settings.learner.batch_size = 32;
  settings.learner.adam.learning_rate = 1e-3f;
  settings.replay_capacity = kRows;
  return settings;
}

/// Rows that never change, and a replay of steps between them.
struct Memory {
  Memory() : values(kRows * kWidth) {
    Random random(3, RandomPurpose::kTest);
    for (float& value : values.span()) value = random.between(-1, 1);
    for (std::uint32_t row = 0; row + 1 < kRows; ++row) {
      store.add({row, row + 1, random.between(-1, 1), static_cast<Action>(random.below(3)), false},
                table());
    }
  }
  [[nodiscard]] ObservationTable table() const {
    return {values.data(), kRows, kWidth, kWidth, nullptr, true};
  }
  AlignedArray<float> values;
  ReplayStore store{ReplayForm::kIndex, kRows};
};

std::vector<float> weights_after(Member& member, const Memory& memory) {
  for (int step = 0; step < 10; ++step) member.learn(memory.store, memory.table(), {1e-3f, 1.0f});
  const std::span<const float> weights = member.learner().network().span();
  return {weights.begin(), weights.end()};
}

class NcclMember : public ::testing::Test {
 protected:
  NcclMember() {
    ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA, 1);
    ::setenv("DREY_SIM_CONTENTS", "1", 1);
    using Launch = unsigned (*)(cuda::Stream, cuda::DevicePointer, std::size_t, const char*);
    static void* const simulated = ::dlopen(DREY_SIMCUDA, RTLD_NOW | RTLD_LOCAL);
    const auto launch = reinterpret_cast<Launch>(::dlsym(simulated, "drey_sim_launch"));
    fake_.submit = [launch](cuda::Stream stream, const void* base, std::size_t bytes) {
      const auto place = reinterpret_cast<std::uintptr_t>(base);
      return static_cast<cuda::Result>(launch(stream, place, bytes, "all-reduce"));
    };
  }
  ~NcclMember() override {
    EXPECT_EQ(fake_.live, 0u);
    fake_.submit = nullptr;
    ::unsetenv("DREY_CUDA_LIBRARY");
    ::unsetenv("DREY_SIM_CONTENTS");
  }
  NcclMember(const NcclMember&) = delete;
  NcclMember& operator=(const NcclMember&) = delete;

  test::FakeNccl& fake_ = test::fresh_fake_nccl();
  const Memory memory_;
};

TEST_F(NcclMember, OfTwoRanksLearnsWhatOneProcessDoesWithinRounding) {
  const test::NcclPath path(DREY_FAKE_NCCL);
  Member alone(settings());
  const std::vector<float> expected = weights_after(alone, memory_);
  std::vector<std::vector<float>> found(2);
  test::on_ranks(2, [&](Communicator& communicator) {
    MemberSettings shared = settings();
    shared.ranks = &communicator;
    shared.make_reduction = make_nccl_reduction(0);
    Member member(shared);
    found[communicator.rank()] = weights_after(member, memory_);
  });
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(fake_.calls["ncclAllReduce"], 20);
  for (std::size_t at = 0; at < expected.size(); ++at) {
    ASSERT_NEAR(found[0][at], expected[at], 1e-5) << at;
  }
}

TEST_F(NcclMember, SaysWhatIsMissingBeforeTheRanksMeet) {
  const auto complaint = [] {
    std::string said;
    test::on_ranks(1, [&](Communicator& communicator) {
      said = test::complaint_of([&] { make_nccl_reduction(0)(communicator, 3); });
    });
    return said;
  };
  {
    const test::NcclPath path("/nowhere/libnccl.so.2");
    EXPECT_EQ(complaint().rfind("averaging by NCCL: expected libnccl.so.2, or its path in "
                                "DREY_NCCL_LIBRARY, found none that opens: ",
                                0),
              0u)
        << complaint();
  }
  const test::NcclPath path(DREY_FAKE_NCCL);
  ::setenv("DREY_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  EXPECT_EQ(complaint(), "--device cuda: no CUDA driver: cannot load /nowhere/libcuda.so");
  EXPECT_EQ(fake_.calls["ncclGetUniqueId"], 0);
}
}  // namespace
}  // namespace drey::trainer
