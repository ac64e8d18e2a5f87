// aligned_alloc_test.cpp: the contracts of posix_memalign, aligned_alloc, memalign, valloc,
// pvalloc. POSIX.1-2024 posix_memalign: the alignment is a power of two multiple of sizeof(void*),
// else EINVAL; on failure the pointer is left alone (XSH, as of this version) and errno is not
// used. C23 7.24.3.1: aligned_alloc of an alignment the implementation does not support returns
// null.
// Read next: limits_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/process_memory.hpp"

#include <cstring>

#include <unistd.h>

namespace drey::test {
namespace {
using PosixMemalign = ConformanceTest;
using AlignedAlloc = ConformanceTest;
using PageAligned = ConformanceTest;

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(PosixMemalign, RefusesBadAlignmentsAndTouchesNothing) {
  int marker = 0;
  for (std::size_t alignment : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{4},
                                std::size_t{7}, std::size_t{12}, std::size_t{24}, std::size_t{48},
                                std::size_t{4095}, SIZE_MAX, SIZE_MAX - 7}) {
    void* pointer = &marker;
    errno = 1234;
    EXPECT_EQ(posix_memalign(&pointer, opaque(alignment), 8), EINVAL) << alignment;
    EXPECT_EQ(pointer, &marker) << alignment;
    EXPECT_EQ(errno, 1234) << alignment;
  }
}

TEST_F(PosixMemalign, SaysNoMemoryByItsResultAloneAndTouchesNothing) {
  int marker = 0;
  for (std::size_t size : {kObjectBytesMax, SIZE_MAX / 2 + 1, SIZE_MAX - 4096, SIZE_MAX}) {
    void* pointer = &marker;
    errno = 1234;
    EXPECT_EQ(posix_memalign(&pointer, 64, opaque(size)), ENOMEM) << size;
    EXPECT_EQ(pointer, &marker) << size;
    EXPECT_EQ(errno, 1234) << size;
  }
}

TEST_F(PosixMemalign, OfTheLargestPowerOfTwoFailsCleanly) {
  int marker = 0;
  void* pointer = &marker;
  EXPECT_NE(posix_memalign(&pointer, opaque(std::size_t{1} << 63), 8), 0);
  EXPECT_EQ(pointer, &marker);
}

TEST_F(PosixMemalign, OfSizeZeroGivesNullOrAPointerThatCanBeFreed) {
  void* pointer = nullptr;
  ASSERT_EQ(posix_memalign(&pointer, 64, 0), 0);
  EXPECT_TRUE(aligned_to(pointer, 64));
  std::free(pointer);
}

TEST_F(AlignedAlloc, AcceptsAlignmentsBelowAPointersSize) {
  for (std::size_t alignment : {1, 2, 4, 8}) {
    for (std::size_t size : {0, 1, 3, 17, 1000, 100000}) {
      const Block block(std::aligned_alloc(alignment, size));
      ASSERT_NE(block.get(), nullptr) << alignment << " " << size;
      ASSERT_TRUE(aligned_to(block.get(), 16)) << alignment << " " << size;
    }
  }
}

TEST_F(AlignedAlloc, RefusesWhatIsNoPowerOfTwo) {
  for (std::size_t alignment :
       {std::size_t{3}, std::size_t{24}, std::size_t{48}, std::size_t{4097}, SIZE_MAX}) {
    errno = 0;
    const Block block(std::aligned_alloc(opaque(alignment), 100));
    EXPECT_EQ(block.get(), nullptr) << alignment;
    EXPECT_EQ(errno, EINVAL) << alignment;
  }
}

TEST_F(AlignedAlloc, DoesNotNeedASizeThatIsAMultiple) {
  // C17 removed the requirement of C11 (DR 460).
  for (std::size_t alignment : {16, 64, 256, 4096}) {
    for (std::size_t size : {1, 15, 100, 5000}) {
      const Block block(std::aligned_alloc(alignment, size));
      ASSERT_TRUE(block.get() != nullptr && aligned_to(block.get(), alignment));
      fill_pattern(block.get(), size, 9);
    }
  }
}

TEST_F(AlignedAlloc, MemalignGivesWhatItIsAskedFor) {
  for (std::size_t alignment : {8, 16, 32, 512, 8192, 131072}) {
    const Block block(memalign(alignment, 777));
    ASSERT_TRUE(block.get() != nullptr && aligned_to(block.get(), alignment)) << alignment;
    fill_pattern(block.get(), 777, alignment);
  }
}

TEST_F(AlignedAlloc, HugeAlignmentsSucceedOrSayNoMemoryAndLeaveNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    const long before = address_space_bytes();
    for (std::size_t alignment = 2 * kMiB; alignment <= std::size_t{4} << 30; alignment *= 2) {
      for (std::size_t size : {std::size_t{1}, std::size_t{4096}, 3 * kMiB}) {
        void* pointer = nullptr;
        const int result = posix_memalign(&pointer, alignment, size);
        ASSERT_TRUE(result == 0 || result == ENOMEM);
        if (result != 0) continue;
        ASSERT_TRUE(aligned_to(pointer, alignment)) << alignment;
        std::memset(pointer, 1, 1);
        std::free(pointer);
      }
    }
    // The first rounds may reserve what is kept for good.
    const long grown = address_space_bytes() - before;
    if (round > 5) {
      ASSERT_LT(grown, long{64} << 20) << "round " << round;
    }
  }
}

TEST_F(AlignedAlloc, AThousandHugeAlignmentsKeepTheAddressSpaceFlat) {
  const auto one = [] {
    void* pointer = nullptr;
    ASSERT_EQ(posix_memalign(&pointer, 2 * kMiB, 3 * kMiB), 0);
    ASSERT_TRUE(aligned_to(pointer, 2 * kMiB));
    std::memset(pointer, 1, 1);
    std::free(pointer);
  };
  for (int i = 0; i < 50; ++i) one();
  const long before = address_space_bytes();
  for (int i = 0; i < 1000; ++i) one();
  EXPECT_LT(address_space_bytes() - before, long{64} << 20);
}

TEST_F(PageAligned, VallocIsPageAligned) {
  for (std::size_t size : {std::size_t{1}, std::size_t{100}, page_bytes(), 3 * page_bytes() + 1}) {
    const Block block(valloc(size));
    ASSERT_TRUE(block.get() != nullptr && aligned_to(block.get(), page_bytes())) << size;
    fill_pattern(block.get(), size, 1);
  }
}

TEST_F(PageAligned, PvallocIsAWholeNumberOfPages) {
  for (std::size_t size : {std::size_t{1}, page_bytes() - 1, page_bytes() + 1}) {
    const Block block(pvalloc(size));
    ASSERT_TRUE(block.get() != nullptr && aligned_to(block.get(), page_bytes())) << size;
    const std::size_t rounded = (size + page_bytes() - 1) / page_bytes() * page_bytes();
    ASSERT_GE(malloc_usable_size(block.get()), rounded) << size;
    fill_pattern(block.get(), rounded, 1);
  }
}

TEST_F(PageAligned, RoundingUpToAPageNeverWraps) {
  for (std::size_t k = 0; k <= page_bytes(); ++k) {
    errno = 0;
    const Block from_valloc(valloc(opaque(SIZE_MAX - k)));
    ASSERT_TRUE(from_valloc.get() == nullptr && errno == ENOMEM) << k;
    errno = 0;
    const Block from_pvalloc(pvalloc(opaque(SIZE_MAX - k)));
    ASSERT_TRUE(from_pvalloc.get() == nullptr && errno == ENOMEM) << k;
    errno = 0;
    const Block from_memalign(memalign(page_bytes(), opaque(SIZE_MAX - k)));
    ASSERT_TRUE(from_memalign.get() == nullptr && errno == ENOMEM) << k;
  }
}
}  // namespace
}  // namespace drey::test
