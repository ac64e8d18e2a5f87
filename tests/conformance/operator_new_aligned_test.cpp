// operator_new_aligned_test.cpp: new and delete with an alignment.
// [new.delete.single] p1: the alignment is a power of two; blocks of an aligned new go back by an
// aligned delete, with or without the size. A sized-aligned delete of a small over-aligned block
// must find the block whatever class its size alone would have.
// Read next: introspection_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/seed.hpp"

#include <memory>
#include <new>

namespace drey::test {
namespace {
using AlignedNew = ConformanceTest;

TEST_F(AlignedNew, AcceptsSmallAlignments) {
  for (std::size_t alignment : {1, 2, 4, 8}) {
    for (std::size_t size : {0, 1, 7, 100, 5000}) {
      void* const block = escape(::operator new (size, std::align_val_t{alignment}));
      ASSERT_TRUE(block != nullptr && aligned_to(block, 16)) << alignment << " " << size;
      ::operator delete (block, std::align_val_t{alignment});
    }
  }
}

/// The four ways to give an aligned block back, chosen by `form`.
void aligned_delete(void* block, std::size_t size, std::align_val_t alignment, std::size_t form) {
  if (form == 0) ::operator delete(block, alignment);
  if (form == 1) ::operator delete(block, size, alignment);
  if (form == 2) ::operator delete(block, alignment, std::nothrow);
}

void aligned_array_delete(void* block, std::size_t size, std::align_val_t alignment,
                          std::size_t form) {
  if (form == 0) ::operator delete[](block, alignment);
  if (form == 1) ::operator delete[](block, size, alignment);
  if (form == 2) ::operator delete[](block, alignment, std::nothrow);
}

struct Live {
  void* block = nullptr;
  std::size_t size = 0;
  std::size_t alignment = 1;
  bool array = false;
};

void take(Live& live, Random& random) {
  live.size = 1 + random.below(random.below(4) == 0 ? 4096 : 300);
  live.alignment = std::size_t{1} << random.below(17);
  live.array = random.below(2) == 0;
  const std::align_val_t alignment{live.alignment};
  const bool nothrow = random.below(2) == 0;
  if (live.array && nothrow) live.block = ::operator new[](live.size, alignment, std::nothrow);
  if (live.array && !nothrow) live.block = ::operator new[](live.size, alignment);
  if (!live.array && nothrow) live.block = ::operator new(live.size, alignment, std::nothrow);
  if (!live.array && !nothrow) live.block = ::operator new(live.size, alignment);
}

TEST_F(AlignedNew, AllFormsPairWithAllDeletesWhileManyAreLive) {
  Random random(test_seed(28));
  std::vector<Live> live(200);
  for (std::size_t i = 0; i < scaled(60000); ++i) {
    const std::size_t index = random.below(live.size());
    Live& place = live[index];
    if (place.block != nullptr) {
      ASSERT_TRUE(check_pattern(place.block, place.size, index)) << place.size;
      const std::align_val_t alignment{place.alignment};
      if (place.array) aligned_array_delete(place.block, place.size, alignment, random.below(3));
      if (!place.array) aligned_delete(place.block, place.size, alignment, random.below(3));
    }
    take(place, random);
    ASSERT_TRUE(aligned_to(place.block, place.alignment)) << place.size << " " << place.alignment;
    fill_pattern(place.block, place.size, index);
  }
  for (const Live& place : live) {
    const std::align_val_t alignment{place.alignment};
    if (place.array) aligned_array_delete(place.block, place.size, alignment, 0);
    if (!place.array) aligned_delete(place.block, place.size, alignment, 0);
  }
}

TEST_F(AlignedNew, EverySmallSizeWithEveryAlignmentAndSizedDelete) {
  for (std::size_t alignment = 1; alignment <= 64 * kKiB; alignment *= 2) {
    for (std::size_t size = 1; size <= 4096; size += size < 300 ? 7 : 251) {
      void* const one = escape(::operator new (size, std::align_val_t{alignment}));
      void* const array = escape(::operator new[](size, std::align_val_t{alignment}));
      ASSERT_TRUE(aligned_to(one, alignment) && aligned_to(array, alignment));
      fill_pattern(one, size, 1);
      fill_pattern(array, size, 2);
      ASSERT_TRUE(check_pattern(one, size, 1));
      ::operator delete (one, size, std::align_val_t{alignment});
      ::operator delete[](array, size, std::align_val_t{alignment});
    }
  }
}

TEST_F(AlignedNew, OverAlignedTypesAreAligned) {
  struct alignas(64) CacheLine {
    char bytes[64];
  };
  struct alignas(4096) Page {
    char bytes[4096];
  };
  std::vector<std::unique_ptr<CacheLine>> lines;
  std::vector<std::unique_ptr<Page[]>> pages;
  for (int i = 0; i < 100; ++i) {
    lines.push_back(std::make_unique<CacheLine>());
    pages.push_back(std::make_unique<Page[]>(3));
    ASSERT_TRUE(aligned_to(lines.back().get(), 64));
    ASSERT_TRUE(aligned_to(pages.back().get(), 4096));
  }
}
}  // namespace
}  // namespace drey::test
