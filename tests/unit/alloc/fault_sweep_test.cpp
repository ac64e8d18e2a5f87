// fault_sweep_test.cpp: one mixed workload, run again and again, with the k-th call to the system
// failing, for every k; then with every call from the k-th on.
//
// Method: each run is a child of its own, forked before the allocator has been touched, so that the
// very first calls fail too. Whatever fails, a block is null with ENOMEM or sound; nothing that was
// there is lost; everything holds afterwards, and once the system grants again everything works.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"
#include "core/contract.hpp"
#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "support/fake_os.hpp"
#include "support/seeded_random.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace drey::core {
namespace {

constexpr int kRounds = 80;

/// In a child: says what is wrong and ends it.
void require(bool fact, const char* what) {
  if (fact) return;
  std::fprintf(stderr, "fault sweep: %s\n", what);
  std::_Exit(1);
}

/// Blocks with a pattern in their first and last bytes, of which the workload keeps some.
class Workload {
 public:
  explicit Workload(bool must_succeed) : must_succeed_(must_succeed) {}

  void run(int rounds) {
    std::mt19937_64 random(99);
    for (int round = 0; round < rounds; ++round) {
      fake_os::advance_ms(40);
      const std::size_t action = below(random, 10);
      if (action < 6 || kept_.empty()) {
        take(random);
      } else if (action < 8) {
        give_back(random);
      } else {
        resize(random);
      }
      if (round % 25 == 24) another_thread(random);
      if (round % 30 == 29) collect();
    }
  }

  void give_back_all() {
    while (!kept_.empty()) drop_last();
  }

 private:
  struct Kept {
    unsigned char* block;
    std::size_t size;
    unsigned char mark;
  };

  static std::size_t some_size(std::mt19937_64& random) {
    constexpr std::size_t kEnds[] = {64, 1_KiB, 1_KiB, 8_KiB, 32_KiB, 64_KiB, 200_KiB, 300_KiB};
    const std::size_t end = below(random, std::size(kEnds) + 1);
    return end < std::size(kEnds) ? below(random, kEnds[end]) + 1 : 33_MiB + below(random, 8_MiB);
  }

  void take(std::mt19937_64& random) {
    const std::size_t size = some_size(random);
    const std::size_t kind = below(random, 4);
    const std::size_t alignment = std::size_t{16} << below(random, 18);
    errno = 0;
    void* block = nullptr;
    if (kind == 0) {
      block = contract::allocate_zeroed(1, size);
    } else if (kind == 1) {
      block = contract::allocate_aligned(alignment, size);
    } else {
      block = contract::allocate(size);
    }
    if (!is_granted(block)) return;
    require(kind != 1 || is_aligned(block, alignment), "a block is not aligned");
    keep(static_cast<unsigned char*>(block), size, kind == 0);
  }

  void keep(unsigned char* block, std::size_t size, bool zeroed) {
    require(usable_bytes(block) >= size, "a block is too short");
    require(!zeroed || (block[0] == 0 && block[size / 2] == 0 && block[size - 1] == 0),
            "a zeroed block is not zero");
    const unsigned char mark = ++mark_;
    block[0] = block[size - 1] = mark;
    kept_.push_back({block, size, mark});
  }

  void resize(std::mt19937_64& random) {
    std::swap(kept_[below(random, kept_.size())], kept_.back());
    Kept& kept = kept_.back();
    require_marked(kept);
    const std::size_t size = some_size(random);
    errno = 0;
    auto* const block = static_cast<unsigned char*>(contract::reallocate(kept.block, size));
    if (!is_granted(block)) return require_marked(kept);
    require(block[0] == kept.mark, "realloc lost the first byte");
    require(size < kept.size || block[kept.size - 1] == kept.mark, "realloc lost the last byte");
    kept.block = block;
    kept.size = size;
    block[0] = block[size - 1] = kept.mark;
  }

  void give_back(std::mt19937_64& random) {
    std::swap(kept_[below(random, kept_.size())], kept_.back());
    drop_last();
  }

  void drop_last() {
    require_marked(kept_.back());
    errno = 77;
    deallocate(kept_.back().block);
    require(errno == 77, "free changed errno");
    kept_.pop_back();
  }

  /// A thread that takes blocks, frees some of this one's, and ends.
  void another_thread(std::mt19937_64& random) {
    play_thread([&] {
      for (int round = 0; round < 15; ++round) take(random);
      for (int round = 0; round < 12 && !kept_.empty(); ++round) give_back(random);
    });
  }

  bool is_granted(const void* block) const {
    if (block != nullptr) return true;
    require(errno == ENOMEM, "null without ENOMEM");
    require(!must_succeed_, "null though nothing failed");
    return false;
  }

  static void require_marked(const Kept& kept) {
    require(kept.block[0] == kept.mark && kept.block[kept.size - 1] == kept.mark,
            "a block was overwritten");
  }

  bool must_succeed_;
  unsigned char mark_ = 0;
  std::vector<Kept> kept_;
};

void require_sound() {
  const CoreReport report = check_core();
  require(report.broken == nullptr, report.broken);
  require(heaps_are_consistent(true), "a heap is not consistent");
  require(segment_store.invariants_hold(), "the store is not consistent");
  require(report.slab_bytes == count_heaps().slab_bytes, "slab bytes are miscounted");
}

/// A whole run in a child. `plan` says what shall fail.
template <typename Plan>
[[noreturn]] void run_and_exit(Plan plan) {
  fake_os::reset();
  plan();
  {
    Workload workload(false);
    workload.run(kRounds);
    require_sound();
    workload.give_back_all();
    require_sound();
  }
  fake_os::reset();
  Workload again(true);
  again.run(kRounds / 3);
  again.give_back_all();
  require_sound();
  collect();
  require(check_core().large_bytes == 0, "a large block is left");
  std::_Exit(0);
}

/// Exit status of a child that runs `act`; 0 if all went well.
template <typename Action>
int in_child(Action act) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) act();
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// How many calls that can fail the workload makes when none does.
std::uint64_t count_calls(std::size_t limit_bytes) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  in_child([&] {
    fake_os::reset();
    fake_os::set_address_space_limit(limit_bytes);
    Workload workload(true);
    workload.run(kRounds);
    const std::uint64_t calls = fake_os::fallible_calls();
    require(write(ends[1], &calls, sizeof(calls)) == sizeof(calls), "the pipe is closed");
    std::_Exit(0);
  });
  std::uint64_t calls = 0;
  const ssize_t got = read(ends[0], &calls, sizeof(calls));
  close(ends[0]);
  close(ends[1]);
  return got == sizeof(calls) ? calls : 0;
}

class FaultSweep : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    calls = count_calls(GetParam());
    ASSERT_GT(calls, 40u) << "the workload hardly needs the system";
    std::printf("%llu calls\n", static_cast<unsigned long long>(calls));
  }
  std::uint64_t calls = 0;
};

TEST_P(FaultSweep, AnyOneRefusedCallIsSurvived) {
  for (std::uint64_t call = 1; call <= calls; ++call) {
    ASSERT_EQ(in_child([&] {
                run_and_exit([&] {
                  fake_os::set_address_space_limit(GetParam());
                  fake_os::fail_nth(call);
                });
              }),
              0)
        << "call " << call;
  }
}

TEST_P(FaultSweep, ASystemThatRefusesEverythingFromAnyCallOnIsSurvived) {
  for (std::uint64_t call = 1; call <= calls; call += call < 20 ? 1 : 4) {
    ASSERT_EQ(in_child([&] {
                run_and_exit([&] {
                  fake_os::set_address_space_limit(GetParam());
                  fake_os::fail_from(call);
                });
              }),
              0)
        << "from call " << call;
  }
}

TEST_P(FaultSweep, AKindOfCallThatIsAlwaysRefusedIsSurvived) {
  for (std::size_t kind = 0; kind < fake_os::kCallKinds; ++kind) {
    ASSERT_EQ(in_child([&] {
                run_and_exit([&] {
                  fake_os::set_address_space_limit(GetParam());
                  fake_os::fail_all(static_cast<fake_os::Call>(kind), true);
                });
              }),
              0)
        << "kind " << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(BothMaps, FaultSweep, testing::Values(SIZE_MAX, 8_GiB),
                         [](const testing::TestParamInfo<std::size_t>& limit) {
                           return limit.param == SIZE_MAX ? "FlatMap" : "TwoLevelMap";
                         });

}  // namespace
}  // namespace drey::core
