// profile_test.cpp: the sampling profile says who holds how much, within what chance allows; and what
// is sampled behaves as any other block.
//
// Method: known amounts are taken in two functions of their own, with drey_malloc beside the process's
// malloc, so nothing else is in the profile; the file that is written is read back, and each stack is
// told by the names dladdr has for it. Heaps are seeded by order, so each run draws the same samples;
// bounds are five standard deviations all the same.
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>
#include <drey/observe.hpp>

#include "core/check.hpp"
#include "core/exponential.hpp"
#include "core/thread_heap.hpp"
#include "unit/alloc/profile_sites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drey {
namespace {
constexpr std::size_t kInterval = 16384;

struct Sums {
  double live_bytes = 0;  ///< estimated, as pprof does
  double total_bytes = 0;
  std::size_t live_samples = 0;
  std::size_t total_samples = 0;
};

/// A line "  1:  2 [  3:  4] @ 0x5 0x6" of a profile.
struct Line {
  std::size_t live_count, live_bytes, total_count, total_bytes;
  std::vector<void*> frames;
};

bool parse(const std::string& text, Line& line) {
  int used = 0;
  if (std::sscanf(text.c_str(), " %zu: %zu [ %zu: %zu] @%n", &line.live_count, &line.live_bytes,
                  &line.total_count, &line.total_bytes, &used) != 4) {
    return false;
  }
  std::istringstream frames(text.substr(static_cast<std::size_t>(used)));
  line.frames.clear();
  for (std::string frame; frames >> frame;) {
    line.frames.push_back(reinterpret_cast<void*>(std::stoull(frame, nullptr, 16)));
  }
  return true;
}

bool passes_through(const Line& line, const char* function) {
  for (void* const frame : line.frames) {
    Dl_info info{};
    if (dladdr(frame, &info) != 0 && info.dli_sname != nullptr &&
        std::strcmp(info.dli_sname, function) == 0) {
      return true;
    }
  }
  return false;
}

std::string write_profile() {
  const std::string name = testing::TempDir() + "drey-profile-";
  const std::string path = name + std::to_string(getpid());
  EXPECT_EQ(drey_profile_write((name + "%p").c_str()), 0);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  return text;
}

/// What the profile has of stacks through `function`; of all where it is empty.
Sums sums_of(const std::string& function) {
  std::istringstream text(write_profile());
  Sums sums;
  std::string row;
  std::getline(text, row);
  Line line;
  while (std::getline(text, row) && parse(row, line)) {
    if (!function.empty() && !passes_through(line, function.c_str())) continue;
    const double size =
        static_cast<double>(line.total_bytes) / static_cast<double>(line.total_count);
    const double weight = 1 / (1 - std::exp(-size / static_cast<double>(kInterval)));
    sums.live_bytes += static_cast<double>(line.live_bytes) * weight;
    sums.total_bytes += static_cast<double>(line.total_bytes) * weight;
    sums.live_samples += line.live_count;
    sums.total_samples += line.total_count;
  }
  return sums;
}

void give_back(std::vector<void*>& blocks) {
  for (void* const block : blocks) drey_free(block);
  blocks.clear();
}

/// Turns the profile on for a test.
class Profile : public testing::Test {
 protected:
  void SetUp() override { start(kInterval); }
  void TearDown() override { drey_profile_stop(); }
  static void start(std::size_t interval) {
    ASSERT_EQ(drey_option_set("profile_interval", std::to_string(interval).c_str()), 0);
    ASSERT_TRUE(drey_profile_start());
  }
};

TEST_F(Profile, AttributesLiveBytesToTheFunctionsThatTookThem) {
  std::vector<void*> here;
  std::vector<void*> there;
  // 64 MB in one and 16 MB in the other: 4,096 and 1,024 samples expected.
  take_here(here, 65536, 1008);
  take_there(there, 16384, 1008);
  const double per_sample = 1008 / (1 - std::exp(-1008.0 / kInterval));
  const Sums of_here = sums_of("take_here");
  const Sums of_there = sums_of("take_there");
  EXPECT_NEAR(of_here.live_bytes, 65536.0 * 1008,
              5 * per_sample * std::sqrt(65536 * 1008 / per_sample));
  EXPECT_NEAR(of_there.live_bytes, 16384.0 * 1008,
              5 * per_sample * std::sqrt(16384 * 1008 / per_sample));
  give_back(there);
  EXPECT_EQ(sums_of("take_there").live_samples, 0u);
  EXPECT_EQ(sums_of("take_there").total_samples, of_there.total_samples);
  EXPECT_EQ(sums_of("take_here").live_samples, of_here.live_samples);
  give_back(here);
  EXPECT_EQ(sums_of("").live_samples, 0u);
}

TEST_F(Profile, IsUnbiasedForEverySizeOfBlock) {
  for (const std::size_t size : {16ul, 320ul, 8192ul, 65536ul, 131072ul}) {
    std::vector<void*> blocks;
    const Sums before = sums_of("");
    const std::size_t count = (std::size_t{32} << 20) / size;
    take_here(blocks, count, size);
    const double found = sums_of("").live_bytes - before.live_bytes;
    const double probability = 1 - std::exp(-static_cast<double>(size) / kInterval);
    const double deviation = static_cast<double>(size) * std::sqrt(static_cast<double>(count) *
                                                                   (1 - probability) / probability);
    EXPECT_NEAR(found, static_cast<double>(size * count), 5 * deviation + 1) << size;
    give_back(blocks);
  }
}

TEST_F(Profile, CountsPairsOfMallocAndFreeAsMuchAsBlocksThatStay) {
  const Sums before = sums_of("");
  for (int index = 0; index < 200'000; ++index) drey_free(drey_malloc(160));
  const Sums after = sums_of("");
  EXPECT_EQ(after.live_samples, before.live_samples);
  const double expected = 200'000 * 160.0 / kInterval;
  EXPECT_NEAR(static_cast<double>(after.total_samples - before.total_samples), expected,
              5 * std::sqrt(expected));
}

TEST_F(Profile, CountsWhatShortLivedThreadsTake) {
  const Sums before = sums_of("");
  for (int round = 0; round < 400; ++round) {
    std::thread([] {
      std::vector<void*> blocks;
      take_here(blocks, 150, 160);
      take_here(blocks, 30, 1008);
      give_back(blocks);
    }).join();
  }
  const double expected = 400 * (150 * 160.0 + 30 * 1008.0) / kInterval;
  EXPECT_NEAR(static_cast<double>(sums_of("").total_samples - before.total_samples), expected,
              5 * std::sqrt(expected));
}

TEST_F(Profile, CountsBlocksThatOtherThreadsGiveBack) {
  const Sums before = sums_of("");
  std::vector<void*> blocks;
  for (int round = 0; round < 200; ++round) {
    take_here(blocks, 1000, 64);
    std::thread([&] { give_back(blocks); }).join();
    drey_collect();  // their blocks come home into slabs that are current
  }
  const double expected = 200 * 1000 * 64.0 / kInterval;
  EXPECT_NEAR(static_cast<double>(sums_of("").total_samples - before.total_samples), expected,
              5 * std::sqrt(expected));
}

TEST_F(Profile, TheFirstLineHasTheSumsAndTheEndTheMappings) {
  std::vector<void*> blocks;
  take_here(blocks, 1000, 1008);
  const std::string text = write_profile();
  std::size_t counts[4] = {};
  std::size_t interval = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "heap profile: %zu: %zu [ %zu: %zu] @ heap_v2/%zu\n",
                        &counts[0], &counts[1], &counts[2], &counts[3], &interval),
            5)
      << text.substr(0, 200);
  EXPECT_EQ(interval, kInterval);
  EXPECT_EQ(counts[0], sums_of("").live_samples);
  EXPECT_EQ(counts[2], sums_of("").total_samples);
  const std::size_t mappings = text.find("\nMAPPED_LIBRARIES:\n");
  ASSERT_NE(mappings, std::string::npos);
  EXPECT_NE(text.find("r-xp", mappings), std::string::npos);
  give_back(blocks);
}

TEST_F(Profile, ASampledBlockIsAsGoodAsAnyOther) {
  start(1);  // nearly every block
  for (const std::size_t size :
       {1ul, 16ul, 100ul, 900ul, 1025ul, 5000ul, 65536ul, 65537ul, 1ul << 20}) {
    auto* const block = static_cast<unsigned char*>(drey_malloc(size));
    EXPECT_EQ(drey_usable_size(block), drey_good_size(size)) << size;
    EXPECT_TRUE(drey_owns(block));
    std::memset(block, 0x5a, drey_usable_size(block));
    if (size <= (1 << 20)) {
      EXPECT_EQ(drey_realloc(block, drey_usable_size(block)), block) << size;
    }
    drey_free(block);
    auto* zeroed = static_cast<unsigned char*>(drey_calloc(1, size));
    for (std::size_t at = 0; at < drey_usable_size(zeroed); ++at) ASSERT_EQ(zeroed[at], 0) << at;
    std::memset(zeroed, 0x33, size);
    zeroed = static_cast<unsigned char*>(drey_realloc(zeroed, 3 * size));
    for (std::size_t at = 0; at < size; ++at) ASSERT_EQ(zeroed[at], 0x33) << at;
    zeroed = static_cast<unsigned char*>(drey_realloc(zeroed, 300'000));
    zeroed = static_cast<unsigned char*>(drey_realloc(zeroed, size / 2 + 1));
    const std::size_t kept = std::min<std::size_t>(size / 2 + 1, 300'000);
    for (std::size_t at = 0; at < kept; ++at) ASSERT_EQ(zeroed[at], 0x33) << at;
    drey_free(zeroed);
    for (std::size_t alignment = 16; alignment <= (2 << 20); alignment *= 8) {
      void* const aligned = drey_aligned_alloc(alignment, size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % alignment, 0u);
      drey_free(aligned);
    }
  }
  const core::CoreReport report = core::check_core();
  EXPECT_EQ(report.broken, nullptr) << report.broken;
  EXPECT_EQ(sums_of("").live_samples, 0u);
}

TEST_F(Profile, AGrowingLargeBlockIsSampledByWhatItGrowsTo) {
  void* block = drey_malloc(100'000);
  for (std::size_t size = 100'000; size <= (std::size_t{8} << 20); size += 65536) {
    block = drey_realloc(block, size);
  }
  const Sums sums = sums_of("");
  EXPECT_EQ(sums.live_samples, 1u);  // 8 MiB are 512 intervals: missed once in e^512
  EXPECT_NEAR(sums.live_bytes, 8 << 20, 65536);
  drey_free(block);
  EXPECT_EQ(sums_of("").live_samples, 0u);
}

TEST_F(Profile, SamplesVanishWhenAnotherThreadFreesThem) {
  std::vector<void*> blocks;
  std::thread([&] { take_here(blocks, 5000, 1008); }).join();  // its heap is an orphan now
  EXPECT_GT(sums_of("take_here").live_samples, 100u);
  std::thread([&] { give_back(blocks); }).join();
  EXPECT_EQ(sums_of("").live_samples, 0u);
  EXPECT_TRUE(core::heaps_are_consistent(true));
}

TEST_F(Profile, ThreadsSampleSideBySide) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([] {
      std::vector<void*> blocks;
      for (int round = 0; round < 20; ++round) {
        take_here(blocks, 2000, 200);
        take_there(blocks, 5, 100'000);
        give_back(blocks);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums_of("").live_samples, 0u);
  EXPECT_EQ(core::check_core().broken, nullptr);
}

TEST_F(Profile, AForksChildGoesOnAndMayFreeWhatItsParentSampled) {
  std::vector<void*> blocks;
  take_here(blocks, 2000, 1008);
  ASSERT_GT(sums_of("").live_samples, 0u);
  const pid_t child = fork();
  if (child == 0) {
    take_there(blocks, 2000, 1008);
    const bool sampled = sums_of("take_there").live_samples > 0;
    give_back(blocks);
    std::_Exit(sampled && sums_of("").live_samples == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(sums_of("").live_samples, 0u);
  give_back(blocks);
}

TEST_F(Profile, AfterStopNothingIsSampledAndTheHitPathIsBack) {
  std::vector<void*> blocks;
  take_here(blocks, 100, 1008);
  EXPECT_NE(core::this_heap->kept, nullptr);
  drey_profile_stop();
  EXPECT_EQ(core::this_heap->kept, nullptr);
  const std::size_t samples = sums_of("").total_samples;
  take_here(blocks, 50'000, 1008);
  EXPECT_EQ(sums_of("").total_samples, samples);
  give_back(blocks);
  EXPECT_EQ(sums_of("").live_samples, 0u);
  EXPECT_TRUE(core::heaps_are_consistent(true));
}

TEST_F(Profile, APathThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(drey_profile_write("/no/such/folder/profile"), ENOENT);
  EXPECT_EQ(drey_profile_write("/dev/full"), ENOSPC);
  EXPECT_EQ(drey_profile_write(std::string(5000, 'x').c_str()), ENAMETOOLONG);
}

TEST(Exponential, LogarithmAndDecayAreThoseOfTheLibrary) {
  for (double value = 0x1p-53; value < 0x1p53; value *= 1.37) {
    EXPECT_NEAR(core::natural_log(value), std::log(value), 1e-9) << value;
  }
  for (double x = 1e-9; x < 600; x *= 1.21) {
    EXPECT_NEAR(core::decay(x) / std::exp(-x), 1, 1e-9) << x;
  }
  EXPECT_EQ(core::decay(1e6), 0);
}
}  // namespace
}  // namespace drey
