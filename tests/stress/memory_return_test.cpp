// memory_return_test.cpp: freed memory comes back, to the program and to the system.
// Method: resident bytes, address space, mappings and page faults before and after; trim() stands
// for the passing of time, so that no test waits. Limits leave room for what any allocator keeps.
// Read next: thread_exchange_test.cpp.
// SPDX-License-Identifier: MIT
#include "stress/stress.hpp"
#include "support/process_memory.hpp"
#include "support/subject.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace drey::test {
namespace {
using MemoryReturn = SubjectTest;
constexpr long kMiB = 1 << 20;

TEST_F(MemoryReturn, AfterABurstMostGoesBackToTheSystem) {
  for (std::size_t bytes :
       {std::size_t{64}, std::size_t{900}, std::size_t{20000}, std::size_t{500000}}) {
    const std::size_t count = std::size_t{100} * kMiB / bytes;
    std::vector<void*> burst(count);
    heap::trim();  // what the last round's vector left must not go back in the middle of this one
    const long before = resident_bytes();
    for (void*& block : burst) {
      block = heap::take(bytes);
      std::memset(block, 1, bytes);
    }
    const long peak = resident_bytes() - before;
    ASSERT_GT(peak, 95 * kMiB);
    for (void* block : burst) heap::give_back(block);
    heap::trim();
    EXPECT_LT(resident_bytes() - before, peak / 5) << bytes;
  }
}

TEST_F(MemoryReturn, ALargeBlockTakenAgainAndAgainIsNotFaultedInEachTime) {
  constexpr std::size_t kBytes = std::size_t{8} * kMiB;
  const auto round = [] {
    void* const block = heap::take(kBytes);
    fill_sparse(block, kBytes, 1);
    heap::give_back(block);
  };
  for (int i = 0; i < 20; ++i) round();
  const long before = minor_fault_count();
  for (int i = 0; i < 200; ++i) round();
  const long pages = static_cast<long>(kBytes / 4096) * 200;
  EXPECT_LT(minor_fault_count() - before, pages / 10);
}

TEST_F(MemoryReturn, AShrinkingReallocGivesItsTailBack) {
  constexpr std::size_t kBytes = std::size_t{300} * kMiB;
  void* block = heap::take(kBytes);
  fill_sparse(block, kBytes, 1);
  const long full = resident_bytes();
  block = heap::resize(block, 64 * 1024);
  heap::trim();
  EXPECT_LT(resident_bytes() - full, -200 * kMiB);
  heap::give_back(block);
}

/// Lines of /proc/self/maps.
long mapping_count() {
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::array<char, 8192> buffer;
  long lines = 0;
  for (ssize_t length = 0; (length = ::read(file, buffer.data(), buffer.size())) > 0;) {
    lines += std::count(buffer.data(), buffer.data() + length, '\n');
  }
  ::close(file);
  return lines;
}

TEST_F(MemoryReturn, MappingsStayFewUnderRandomLargeBlocks) {
  Random random(test_seed(55));
  std::vector<void*> live(100, nullptr);
  const long before = mapping_count();
  long most = 0;
  for (std::size_t i = 0; i < scaled(20000); ++i) {
    void*& place = live[random.below(live.size())];
    heap::give_back(place);
    place = heap::take(65536 + random.below(std::size_t{2} * kMiB));
    *static_cast<volatile char*>(place) = 1;
    if (i % 500 == 0) most = std::max(most, mapping_count() - before);
  }
  for (void* block : live) heap::give_back(block);
  EXPECT_LT(most, 1000);
}

TEST_F(MemoryReturn, AddressSpaceStaysBoundedInASteadyMixture) {
  Random random(test_seed(59));
  std::vector<void*> live(400, nullptr);
  const auto churn = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      void*& place = live[random.below(live.size())];
      heap::give_back(place);
      place = heap::take(draw_size(random, 20));
      *static_cast<volatile char*>(place) = 1;
    }
  };
  churn(scaled(30000));
  const long before = address_space_bytes();
  churn(scaled(150000));
  EXPECT_LT(address_space_bytes() - before, 1024 * kMiB);
  for (void* block : live) heap::give_back(block);
}

TEST_F(MemoryReturn, GrowingAHugeBlockInStepsKeepsOneCopyResident) {
  std::size_t bytes = std::size_t{64} * kMiB;
  void* block = heap::take(bytes);
  fill_sparse(block, bytes, 1);
  const long before = resident_bytes();
  for (int i = 0; i < 100; ++i) {
    bytes += 65536;
    block = heap::resize(block, bytes);
    ASSERT_NE(block, nullptr);
  }
  heap::trim();
  EXPECT_LT(resident_bytes() - before, 32 * kMiB);
  heap::give_back(block);
}
}  // namespace
}  // namespace drey::test
