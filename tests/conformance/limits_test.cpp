// limits_test.cpp: what cannot be granted is refused by null and ENOMEM, and nothing breaks.
// C11 7.22.3 p1: if the space cannot be allocated, a null pointer is returned; POSIX adds ENOMEM.
// An object above PTRDIFF_MAX bytes breaks pointer subtraction (C11 6.5.6 p9), so none is granted.
// Read next: realloc_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <initializer_list>
#include <new>

namespace drey::test {
namespace {
using Limits = ConformanceTest;
using CallocOverflow = ConformanceTest;

/// Asks `allocate` for every impossible size.
template <typename Allocate>
void expect_refused(const Allocate& allocate) {
  for (std::size_t size : impossible_sizes()) {
    errno = 0;
    const Block block(allocate(opaque(size)));
    ASSERT_EQ(block.get(), nullptr) << size;
    ASSERT_EQ(errno, ENOMEM) << size;
  }
  const Block still_works(std::malloc(100));
  ASSERT_NE(still_works.get(), nullptr);
}

TEST_F(Limits, MallocRefuses) {
  expect_refused([](std::size_t size) { return std::malloc(size); });
}

TEST_F(Limits, CallocRefuses) {
  expect_refused([](std::size_t size) { return std::calloc(1, size); });
  expect_refused([](std::size_t size) { return std::calloc(size, 1); });
}

TEST_F(Limits, ReallocOfNullRefuses) {
  expect_refused([](std::size_t size) { return std::realloc(nullptr, size); });
}

TEST_F(Limits, AlignedAllocRefusesAtEveryAlignment) {
  for (std::size_t alignment : {std::size_t{16}, std::size_t{64}, std::size_t{4096}, kMiB}) {
    expect_refused([=](std::size_t size) { return std::aligned_alloc(alignment, size); });
    expect_refused([=](std::size_t size) { return memalign(alignment, size); });
  }
}

TEST_F(Limits, PosixMemalignRefusesByResult) {
  for (std::size_t size : impossible_sizes()) {
    void* pointer = nullptr;
    ASSERT_EQ(posix_memalign(&pointer, 64, opaque(size)), ENOMEM) << size;
    ASSERT_EQ(pointer, nullptr);
  }
}

TEST_F(Limits, VallocAndPvallocRefuse) {
  expect_refused([](std::size_t size) { return valloc(size); });
  expect_refused([](std::size_t size) { return pvalloc(size); });
}

TEST_F(Limits, ReallocarrayRefuses) {
  expect_refused([](std::size_t size) { return reallocarray(nullptr, 1, size); });
  expect_refused([](std::size_t size) { return reallocarray(nullptr, size, 1); });
}

TEST_F(Limits, NothrowNewRefusesWithoutThrowing) {
  for (std::size_t size : {kObjectBytesMax, kObjectBytesMax + 1, SIZE_MAX - 4096, SIZE_MAX}) {
    ASSERT_EQ(::operator new(opaque(size), std::nothrow), nullptr);
    ASSERT_EQ(::operator new[](opaque(size), std::nothrow), nullptr);
    ASSERT_EQ(::operator new (opaque(size), std::align_val_t{64}, std::nothrow), nullptr);
    ASSERT_EQ(::operator new[](opaque(size), std::align_val_t{64}, std::nothrow), nullptr);
  }
}

TEST_F(Limits, AlignmentAndSizeTogetherNeverWrap) {
  for (std::size_t alignment = 16; alignment <= std::size_t{1} << 62; alignment *= 2) {
    for (std::size_t size : {kObjectBytesMax - alignment, SIZE_MAX - alignment,
                             SIZE_MAX - alignment + 1, SIZE_MAX - 2 * alignment}) {
      if (size < std::size_t{1} << 48) continue;  // could be granted
      errno = 0;
      const Block block(std::aligned_alloc(opaque(alignment), opaque(size)));
      ASSERT_EQ(block.get(), nullptr) << alignment << " " << size;
      ASSERT_TRUE(errno == ENOMEM || errno == EINVAL) << alignment << " " << size;
    }
  }
}

TEST_F(Limits, MoreThanTheAddressSpaceIsRefusedBeforeTheObjectLimit) {
  for (unsigned exponent = 48; exponent < 63; ++exponent) {
    errno = 0;
    const Block block(std::malloc(opaque(std::size_t{1} << exponent)));
    ASSERT_EQ(block.get(), nullptr) << exponent;
    ASSERT_EQ(errno, ENOMEM);
  }
}

/// 2^exponent - 1, 2^exponent, 2^exponent + 1.
std::initializer_list<int> deltas() {
  static constexpr std::initializer_list<int> kDeltas = {-1, 0, 1};
  return kDeltas;
}

TEST_F(CallocOverflow, AllPairsAroundPowersOfTwoAreRefused) {
  for (unsigned exponent = 1; exponent < 64; ++exponent) {
    for (int first_delta : deltas()) {
      for (int second_delta : deltas()) {
        const std::size_t count =
            (std::size_t{1} << exponent) + static_cast<std::size_t>(first_delta);
        const std::size_t size =
            (std::size_t{1} << (64 - exponent)) + static_cast<std::size_t>(second_delta);
        std::size_t product = 0;
        const bool wraps = __builtin_mul_overflow(count, size, &product);
        if (!wraps && product <= kObjectBytesMax) continue;
        errno = 0;
        const Block block(std::calloc(opaque(count), opaque(size)));
        ASSERT_TRUE(block.get() == nullptr && errno == ENOMEM) << count << " x " << size;
        errno = 0;
        const Block array(reallocarray(nullptr, opaque(count), opaque(size)));
        ASSERT_TRUE(array.get() == nullptr && errno == ENOMEM) << count << " x " << size;
      }
    }
  }
}

TEST_F(CallocOverflow, AZeroFactorIsNoOverflow) {
  for (std::size_t other : {std::size_t{0}, std::size_t{1}, kObjectBytesMax, SIZE_MAX}) {
    const Block left(std::calloc(0, opaque(other)));
    const Block right(std::calloc(opaque(other), 0));
    EXPECT_NE(left.get(), nullptr) << other;
    EXPECT_NE(right.get(), nullptr) << other;
    const Block array(reallocarray(nullptr, 0, opaque(other)));
    EXPECT_NE(array.get(), nullptr) << other;
  }
}

TEST_F(CallocOverflow, AFailingReallocarrayKeepsTheOldBlock) {
  const Block block(std::malloc(1000));
  fill_pattern(block.get(), 1000, 4);
  errno = 0;
  ASSERT_EQ(reallocarray(block.get(), opaque(SIZE_MAX / 2), 3), nullptr);
  ASSERT_EQ(errno, ENOMEM);
  EXPECT_TRUE(check_pattern(block.get(), 1000, 4));
}

TEST_F(Limits, SizeZeroGivesUniquePointers) {
  // C11 7.22.3 p1 leaves null or a unique pointer; programs written for glibc expect the latter.
  std::vector<void*> live;
  for (int i = 0; i < 1000; ++i) {
    live.push_back(escape(i % 2 == 0 ? std::malloc(0) : std::calloc(0, 0)));
    ASSERT_NE(live.back(), nullptr);
    for (std::size_t j = 0; j + 1 < live.size(); ++j) ASSERT_NE(live[j], live.back());
  }
  for (void* block : live) std::free(block);
}

TEST_F(Limits, FreeOfNullDoesNothing) {
  // C11 7.22.3.3 p2.
  for (int i = 0; i < 10; ++i) std::free(nullptr);
  ::operator delete(nullptr);
  ::operator delete[](nullptr);
}
}  // namespace
}  // namespace drey::test
