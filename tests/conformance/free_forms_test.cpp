// free_forms_test.cpp: every way to get a block goes with every legal way to give it back.
// C23 7.24.3.4 free_sized: for blocks of malloc, calloc, realloc with the size that was asked;
// 7.24.3.5 free_aligned_sized: for blocks of aligned_alloc with its alignment and size; both take
// null. cfree is free under its older name. A form that the process lacks is skipped by name.
// Read next: operator_new_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <array>
#include <cstring>
#include <cwchar>
#include <functional>

#include <stdio.h>
#include <string.h>

namespace drey::test {
namespace {
using FreeForms = ConformanceTest;

struct Source {
  const char* name;
  std::function<void*(std::size_t)> take;
};

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      {"malloc", [](std::size_t size) { return std::malloc(size); }},
      {"calloc", [](std::size_t size) { return std::calloc(1, size); }},
      {"realloc", [](std::size_t size) { return std::realloc(nullptr, size); }},
      {"reallocarray", [](std::size_t size) { return reallocarray(nullptr, 1, size); }},
      {"aligned_alloc", [](std::size_t size) { return std::aligned_alloc(128, size); }},
      {"memalign", [](std::size_t size) { return memalign(256, size); }},
      {"valloc", [](std::size_t size) { return valloc(size); }},
      {"pvalloc", [](std::size_t size) { return pvalloc(size); }},
      {"posix_memalign",
       [](std::size_t size) {
         void* pointer = nullptr;
         return posix_memalign(&pointer, 512, size) == 0 ? pointer : nullptr;
       }},
  };
  return all;
}

TEST_F(FreeForms, EverySourceIsGivenBackByFreeAndByRealloc) {
  for (const Source& source : sources()) {
    for (std::size_t size : some_sizes()) {
      void* block = escape(source.take(size));
      ASSERT_NE(block, nullptr) << source.name << " " << size;
      fill_sparse(block, size, 2);
      std::free(block);
      block = escape(source.take(size));
      fill_sparse(block, size, 2);
      block = escape(std::realloc(block, size + 100));
      ASSERT_NE(block, nullptr) << source.name << " " << size;
      ASSERT_EQ(static_cast<unsigned char*>(block)[size - 1], pattern_byte(size - 1, 2));
      ASSERT_EQ(std::realloc(block, opaque(0)), nullptr);
    }
  }
}

TEST_F(FreeForms, CfreeIsFree) {
  const auto cfree_function = optional_functions().cfree;
  if (cfree_function == nullptr) GTEST_SKIP() << "this process has no cfree";
  for (const Source& source : sources()) {
    for (std::size_t size : some_sizes()) cfree_function(escape(source.take(size)));
  }
  cfree_function(nullptr);
}

TEST_F(FreeForms, FreeSizedTakesBlocksOfMallocCallocAndRealloc) {
  const auto free_sized_function = optional_functions().free_sized;
  if (free_sized_function == nullptr) GTEST_SKIP() << "this process has no free_sized";
  free_sized_function(nullptr, 0);
  free_sized_function(nullptr, 1000);
  for (std::size_t size : sizes_of_every_class()) {
    free_sized_function(escape(std::malloc(size)), size);
    free_sized_function(escape(std::calloc(1, size)), size);
    free_sized_function(escape(std::realloc(std::malloc(10), size)), size);
  }
  free_sized_function(escape(std::malloc(0)), 0);
}

TEST_F(FreeForms, FreeAlignedSizedTakesBlocksOfAlignedAlloc) {
  const auto free_function = optional_functions().free_aligned_sized;
  if (free_function == nullptr) GTEST_SKIP() << "this process has no free_aligned_sized";
  free_function(nullptr, 64, 100);
  for (std::size_t alignment = 1; alignment <= 4 * kMiB; alignment *= 2) {
    for (std::size_t size : some_sizes()) {
      void* const block = escape(std::aligned_alloc(alignment, size));
      ASSERT_NE(block, nullptr);
      fill_sparse(block, size, 1);
      free_function(block, alignment, size);
    }
  }
}

TEST_F(FreeForms, SizedFreesGiveTheirMemoryToLaterBlocksWithoutOverlap) {
  const auto& functions = optional_functions();
  if (functions.free_sized == nullptr) GTEST_SKIP() << "this process has no free_sized";
  for (std::size_t size = 1; size <= 4096; size += 61) {
    for (std::size_t alignment = 1; alignment <= 64 * kKiB; alignment *= 8) {
      std::array<void*, 8> live{};
      for (std::size_t i = 0; i < live.size(); ++i) {
        live[i] = escape(i % 2 == 0 ? std::malloc(size) : std::aligned_alloc(alignment, size));
        fill_pattern(live[i], size, i);
      }
      for (std::size_t i = 0; i < live.size(); ++i) {
        ASSERT_TRUE(check_pattern(live[i], size, i)) << size << " " << alignment;
        if (i % 2 == 0) functions.free_sized(live[i], size);
        if (i % 2 == 1) functions.free_aligned_sized(live[i], alignment, size);
      }
    }
  }
}

TEST_F(FreeForms, StringsOfTheCLibraryAreOrdinaryBlocks) {
  char* const copy = escape(strdup("sentence"));
  char* const part = escape(strndup("sentence", 4));
  wchar_t* const wide = escape(wcsdup(L"sentence"));
  EXPECT_STREQ(copy, "sentence");
  EXPECT_STREQ(part, "sent");
  EXPECT_GE(malloc_usable_size(copy), 9U);
  char* const longer = static_cast<char*>(escape(std::realloc(copy, 10000)));
  EXPECT_STREQ(longer, "sentence");
  std::free(longer);
  std::free(part);
  std::free(wide);
}

TEST_F(FreeForms, LinesOfGetlineAndAsprintfAreOrdinaryBlocks) {
  char* text = nullptr;
  ASSERT_GT(asprintf(&text, "%0500d", 7), 0);
  EXPECT_GE(malloc_usable_size(text), 501U);
  std::free(text);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  for (int i = 0; i < 5000; ++i) std::fputc('x', file);
  std::fputc('\n', file);
  std::rewind(file);
  char* line = static_cast<char*>(std::malloc(1));
  std::size_t capacity = 1;
  EXPECT_EQ(getline(&line, &capacity, file), 5001);
  std::free(line);
  std::fclose(file);
}
}  // namespace
}  // namespace drey::test
