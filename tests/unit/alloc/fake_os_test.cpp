// fake_os_test.cpp: that the allocator in this executable really runs on the fake system, beside
// the real lock, and that the fake keeps the contract of os.hpp.
// SPDX-License-Identifier: MIT
#include "support/fake_os.hpp"

#include "core/entry.hpp"
#include "os/lock.hpp"
#include "os/os.hpp"
#include "support/test_heap.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace drey {
namespace {
using fake_os::Call;

class FakeOs : public testing::Test {
 protected:
  FakeOs() { fake_os::reset(); }
};

TEST_F(FakeOs, IsWhatTheAllocatorCalls) {
  core::deallocate(core::allocate(100));
  EXPECT_TRUE(fake_os::has_fork_handlers());
  void* const block = core::allocate(100'000'000);
  ASSERT_NE(block, nullptr);
  EXPECT_GE(fake_os::bytes(Call::kMap), 100'000'000u);
  core::deallocate(block);
  EXPECT_GE(fake_os::bytes(Call::kUnmap), 100'000'000u);
}

TEST_F(FakeOs, FailsTheCallThatWasAskedForAndNoOther) {
  fake_os::fail_nth(Call::kReserve, 2);
  void* const first = os::reserve(65536, 65536);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(os::reserve(65536, 65536), nullptr);
  void* const third = os::reserve(65536, 65536);
  EXPECT_NE(third, nullptr);
  fake_os::fail_nth(2);
  EXPECT_TRUE(os::commit(first, 4096));
  EXPECT_FALSE(os::commit(third, 4096));
  EXPECT_EQ(fake_os::failed_calls(), 2u);
  EXPECT_EQ(fake_os::fallible_calls(), 5u);
  os::unmap(first, 65536);
  os::unmap(third, 65536);
}

TEST_F(FakeOs, GivesMemoryThatIsAlignedZeroAndCounted) {
  const std::size_t held_before = fake_os::held_bytes();
  for (std::size_t alignment = 4096; alignment <= 1_GiB; alignment *= 4) {
    auto* const start = static_cast<char*>(os::map(12288, alignment));
    ASSERT_NE(start, nullptr);
    EXPECT_TRUE(is_aligned(start, alignment));
    EXPECT_EQ(fake_os::held_bytes(), held_before + 12288);
    for (int at = 0; at < 12288; at += 512) ASSERT_EQ(start[at], 0);
    std::memset(start, 1, 12288);
    EXPECT_TRUE(os::purge(start, 4096));
    EXPECT_EQ(start[0], 0);
    EXPECT_EQ(start[4096], 1);
    os::unmap(start, 12288);
    EXPECT_EQ(fake_os::held_bytes(), held_before);
  }
}

TEST_F(FakeOs, KeepsErrnoOnFailure) {
  errno = 77;
  EXPECT_EQ(os::reserve(std::size_t{1} << 60, 4096), nullptr);
  EXPECT_EQ(os::map(std::size_t{1} << 60, std::size_t{1} << 62), nullptr);
  EXPECT_EQ(errno, 77);
}

TEST_F(FakeOs, RunsTheExitHookAsOftenAsItIsSetAgain) {
  static int rounds = 0;
  struct Hook {
    static void run(void* argument) noexcept {
      const bool again = ++rounds < 3;
      EXPECT_EQ(again && os::call_at_thread_exit(run, argument), again);
    }
  };
  rounds = 0;
  ASSERT_TRUE(os::call_at_thread_exit(Hook::run, nullptr));
  EXPECT_EQ(fake_os::end_this_thread(), 3);
  EXPECT_EQ(fake_os::end_this_thread(), 0);
}

TEST_F(FakeOs, LeavesTheLockReal) {
  os::Lock lock;
  int count = 0;  // guarded by lock
  const auto add = [&] {
    for (int round = 0; round < 20000; ++round) {
      const os::LockHolder hold(lock);
      ++count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(count, 40000);
}

}  // namespace
}  // namespace drey
