// first_block_test.cpp: whatever a process asks for first, everything is there that it needs.
//
// Method: each case is a child of its own, forked before the allocator has been touched.
// SPDX-License-Identifier: MIT
#include "core/check.hpp"
#include "core/entry.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace drey::core {
namespace {

/// Takes `block_bytes` as the very first block, others after it, and ends with 0 if all is well.
[[noreturn]] void begin_with(std::size_t block_bytes, std::size_t alignment) {
  fake_os::reset();
  void* const first = allocate_aligned(alignment, block_bytes);
  if (!fake_os::has_fork_handlers()) std::_Exit(1);
  if (slab_map.flat_limit.load() == 0) std::_Exit(2);
  for (std::size_t size = 16; size <= 64_MiB; size *= 4) deallocate(allocate(size));
  if (!owns(first) || usable_bytes(first) < block_bytes) std::_Exit(3);
  deallocate(first);
  std::_Exit(check_core().broken == nullptr ? 0 : 4);
}

TEST(FirstBlockDeathTest, MayBeOfAnyKind) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{900}, 60_KiB, 1_MiB, 40_MiB, 1_GiB}) {
    EXPECT_EXIT(begin_with(size, 16), testing::ExitedWithCode(0), "^$") << size;
  }
  EXPECT_EXIT(begin_with(1, 1_GiB), testing::ExitedWithCode(0), "^$");
}

TEST(FirstBlockDeathTest, MayBeAForeignFree) {
  const auto free_first = [] {
    fake_os::reset();
    deallocate(nullptr);
    int local = 0;
    std::_Exit(owns(&local) || usable_bytes(&local) != 0 ? 1 : 0);
  };
  EXPECT_EXIT(free_first(), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace drey::core
