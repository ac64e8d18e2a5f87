// introspection_test.cpp: the questions programs ask a malloc, beside blocks.
// glibc manual, "Statistics of Malloc", "Malloc Tunable Parameters": mallinfo, mallinfo2,
// malloc_stats, malloc_info, mallopt and malloc_trim answer; what they say is the allocator's own
// business, but they neither crash nor break the heap, from any thread, at any time.
// Read next: early_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include "support/child_process.hpp"

#include <cstdio>
#include <cstring>
#include <thread>

namespace drey::test {
namespace {
using Introspection = ConformanceTest;

TEST_F(Introspection, Mallinfo2Answers) {
  const Block block(std::malloc(3 * kMiB));
  std::memset(block.get(), 1, 3 * kMiB);
  const struct mallinfo2 info = mallinfo2();
  // drey's figures must be its own: a block of three MiB cannot be missing from them.
  if (subject_is_drey()) {
    EXPECT_GE(info.uordblks + info.hblkhd, 3 * kMiB);
  }
}

TEST_F(Introspection, MallinfoAnswers) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo info = mallinfo();
#pragma GCC diagnostic pop
  if (subject_is_drey()) {
    EXPECT_GE(info.arena + info.hblkhd, 0);
  }
}

TEST_F(Introspection, MallocStatsWritesToStandardErrorOnly) {
  const ChildResult child = run_forked([] {
    malloc_stats();
    return 0;
  });
  EXPECT_TRUE(child.succeeded()) << child.summary();
  EXPECT_EQ(child.output, "");
  if (subject_is_drey()) {
    EXPECT_NE(child.error_output, "");
  }
}

TEST_F(Introspection, MallocInfoWritesXml) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const stream = open_memstream(&text, &length);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(malloc_info(0, stream), 0);
  std::fclose(stream);
  EXPECT_EQ(std::strncmp(text, "<malloc", 7), 0) << text;
  EXPECT_NE(std::strstr(text, "</malloc>"), nullptr) << text;
  std::free(text);
}

TEST_F(Introspection, MallocInfoRefusesUnknownOptions) {
  errno = 0;
  const int result = malloc_info(77, stdout);
  EXPECT_TRUE(result == EINVAL || (result == -1 && errno == EINVAL)) << result;
}

TEST_F(Introspection, MalloptAcceptsWhatProgramsSet) {
  // 1 is success; a program that sets its limits at the start gives up on 0.
  EXPECT_EQ(mallopt(M_MMAP_THRESHOLD, 128 * 1024), 1);
  EXPECT_EQ(mallopt(M_TRIM_THRESHOLD, 128 * 1024), 1);
  EXPECT_EQ(mallopt(M_TOP_PAD, 64 * 1024), 1);
  EXPECT_EQ(mallopt(M_MMAP_MAX, 65536), 1);
  EXPECT_EQ(mallopt(M_ARENA_MAX, 8), 1);
  const Block block(std::malloc(100));
  EXPECT_NE(block.get(), nullptr);
}

TEST_F(Introspection, MallocTrimAnswersAndLeavesContentsAlone) {
  std::vector<void*> live;
  for (std::size_t i = 0; i < 2000; ++i) {
    live.push_back(escape(std::malloc(900)));
    fill_pattern(live.back(), 900, i);
  }
  for (std::size_t i = 0; i < live.size(); i += 2) std::free(live[i]);
  const int result = malloc_trim(0);
  EXPECT_TRUE(result == 0 || result == 1);
  for (std::size_t i = 1; i < live.size(); i += 2) {
    ASSERT_TRUE(check_pattern(live[i], 900, i));
    std::free(live[i]);
  }
}

TEST_F(Introspection, AllOfThemMayBeCalledWhileOthersAllocate) {
  std::FILE* const sink = std::fopen("/dev/null", "w");
  ASSERT_NE(sink, nullptr);
  std::thread worker([] {
    for (int i = 0; i < 200000; ++i)
      std::free(escape(std::malloc(static_cast<std::size_t>(i % 3000))));
  });
  for (int i = 0; i < 200; ++i) {
    [[maybe_unused]] const struct mallinfo2 info = mallinfo2();
    malloc_info(0, sink);
    malloc_trim(0);
    malloc_usable_size(nullptr);
  }
  worker.join();
  std::fclose(sink);
}
}  // namespace
}  // namespace drey::test
