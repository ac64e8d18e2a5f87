// realloc_test.cpp: realloc keeps what it must keep. C11 7.22.3.5 p2-4: the new object has the old
// contents up to the lesser of both sizes; null in, malloc; on failure the old object is not
// deallocated and its value is unchanged. realloc(p, 0): C23 makes it undefined; programs written
// for glibc expect it to free and give null.
// Read next: usable_size_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/process_memory.hpp"
#include "support/seed.hpp"

namespace drey::test {
namespace {
using Realloc = ConformanceTest;

TEST_F(Realloc, KeepsContentsBetweenAllSizes) {
  for (std::size_t from : some_sizes()) {
    for (std::size_t to : some_sizes()) {
      Block block(std::malloc(from));
      ASSERT_NE(block.get(), nullptr);
      fill_sparse(block.get(), from, from);
      void* const moved = escape(std::realloc(block.release(), to));
      ASSERT_NE(moved, nullptr) << from << " to " << to;
      block.reset(moved);
      const std::size_t kept = from < to ? from : to;
      const auto* const byte = static_cast<const unsigned char*>(moved);
      for (std::size_t i = 0; i < kept; i += 4096) ASSERT_EQ(byte[i], pattern_byte(i, from));
      if (from <= to) {
        ASSERT_EQ(byte[from - 1], pattern_byte(from - 1, from)) << from << " to " << to;
      }
    }
  }
}

TEST_F(Realloc, KeepsEveryByteOfSmallBlocks) {
  for (std::size_t from = 1; from <= 2100; from += 37) {
    for (std::size_t to = 1; to <= 2100; to += 41) {
      Block block(std::malloc(from));
      fill_pattern(block.get(), from, from + to);
      block.reset(std::realloc(block.release(), to));
      ASSERT_NE(block.get(), nullptr);
      ASSERT_TRUE(check_pattern(block.get(), from < to ? from : to, from + to))
          << from << " " << to;
    }
  }
}

TEST_F(Realloc, OfAlignedBlocksKeepsContents) {
  for (std::size_t alignment = 32; alignment <= 4 * kMiB; alignment *= 8) {
    for (std::size_t from : {std::size_t{1}, std::size_t{900}, std::size_t{70000}, 3 * kMiB}) {
      for (std::size_t to : {std::size_t{24}, std::size_t{5000}, std::size_t{200000}, 4 * kMiB}) {
        Block block(std::aligned_alloc(alignment, from));
        fill_sparse(block.get(), from, 3);
        block.reset(std::realloc(block.release(), to));
        ASSERT_NE(block.get(), nullptr);
        const auto* const byte = static_cast<const unsigned char*>(block.get());
        for (std::size_t i = 0; i < from && i < to; i += 4096)
          ASSERT_EQ(byte[i], pattern_byte(i, 3));
      }
    }
  }
}

TEST_F(Realloc, ThatFailsLeavesTheBlockAlone) {
  for (std::size_t size : some_sizes()) {
    for (std::size_t alignment : {std::size_t{16}, std::size_t{4096}}) {
      const Block block(std::aligned_alloc(alignment, size));
      ASSERT_NE(block.get(), nullptr);
      fill_sparse(block.get(), size, size);
      for (std::size_t request : {kObjectBytesMax - size, kObjectBytesMax, kObjectBytesMax + 1,
                                  SIZE_MAX - 4096, SIZE_MAX - 15, SIZE_MAX}) {
        errno = 0;
        ASSERT_EQ(std::realloc(block.get(), opaque(request)), nullptr) << size << " " << request;
        ASSERT_EQ(errno, ENOMEM) << size << " " << request;
      }
      ASSERT_TRUE(check_sparse(block.get(), size, size)) << size;
    }
  }
}

TEST_F(Realloc, OfNullIsMalloc) {
  Block block(std::realloc(nullptr, 100));
  ASSERT_NE(block.get(), nullptr);
  const Block empty(std::realloc(nullptr, 0));
  EXPECT_NE(empty.get(), nullptr);
  EXPECT_NE(empty.get(), block.get());
}

TEST_F(Realloc, ToZeroFreesAndGivesNullWithoutAnError) {
  for (std::size_t size : some_sizes()) {
    void* const block = escape(std::malloc(size));
    errno = 1234;
    EXPECT_EQ(std::realloc(block, opaque(0)), nullptr) << size;
    EXPECT_EQ(errno, 1234) << size;
  }
}

TEST_F(Realloc, ToZeroDoesNotLeak) {
  const auto round = [](std::size_t size) {
    void* const block = escape(std::malloc(size));
    std::memset(block, 1, size);
    std::free(std::realloc(block, opaque(0)));
  };
  for (int i = 0; i < 1000; ++i) round(4000);
  const long before = resident_bytes();
  for (std::size_t i = 0; i < scaled(300000); ++i) round(4000);
  EXPECT_LT(resident_bytes() - before, long{8} << 20);
}

TEST_F(Realloc, GrowsAndShrinksInLongChains) {
  Random random(test_seed(19));
  for (int chain = 0; chain < 5; ++chain) {
    Block block(std::malloc(1));
    std::size_t size = 1;
    fill_sparse(block.get(), size, 7);
    for (int step = 0; step < 300; ++step) {
      const std::size_t limit = std::size_t{1} << (4 + random.below(18));
      const std::size_t next = 1 + random.below(limit);
      block.reset(std::realloc(block.release(), next));
      ASSERT_NE(block.get(), nullptr);
      const auto* const byte = static_cast<const unsigned char*>(block.get());
      for (std::size_t i = 0; i < size && i < next; i += 4096)
        ASSERT_EQ(byte[i], pattern_byte(i, 7));
      size = next;
      fill_sparse(block.get(), size, 7);
    }
  }
}

TEST_F(Realloc, GrowsByteByByteThroughEveryClass) {
  Block block(std::malloc(1));
  fill_pattern(block.get(), 1, 6);
  for (std::size_t size = 2; size <= 9000; ++size) {
    block.reset(std::realloc(block.release(), size));
    ASSERT_NE(block.get(), nullptr);
    static_cast<unsigned char*>(block.get())[size - 1] = pattern_byte(size - 1, 6);
    if (size % 97 == 0) {
      ASSERT_TRUE(check_pattern(block.get(), size, 6)) << size;
    }
  }
  for (std::size_t size = 8999; size >= 1; size -= 7) {
    block.reset(std::realloc(block.release(), size));
    ASSERT_TRUE(check_pattern(block.get(), size, 6)) << size;
    if (size < 8) break;
  }
}

TEST_F(Realloc, WithinTheUsableSizeDoesNotMove) {
  for (std::size_t size : sizes_of_every_class()) {
    Block block(std::malloc(size));
    void* const before = block.get();
    const std::size_t usable = malloc_usable_size(before);
    block.reset(std::realloc(block.release(), usable));
    ASSERT_EQ(block.get(), before) << size;
  }
}

TEST_F(Realloc, GrowsAHugeBlockInSmallStepsWithoutLosingContents) {
  std::size_t size = 40 * kMiB;
  Block block(std::malloc(size));
  fill_sparse(block.get(), size, 8);
  for (int step = 0; step < 200; ++step) {
    const std::size_t next = size + 64 * kKiB;
    block.reset(std::realloc(block.release(), next));
    ASSERT_NE(block.get(), nullptr);
    size = next;
  }
  const auto* const byte = static_cast<const unsigned char*>(block.get());
  for (std::size_t i = 0; i < 40 * kMiB; i += 4096) ASSERT_EQ(byte[i], pattern_byte(i, 8));
}
}  // namespace
}  // namespace drey::test
