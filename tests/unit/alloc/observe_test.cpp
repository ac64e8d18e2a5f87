// observe_test.cpp: what statistics, class map and heap walk say of a heap whose contents are known.
//
// Method: the real operating system; the test's own blocks are told from the test framework's, which
// are the C library's: drey_malloc is beside it here, so at a quiet point drey holds these and no more.
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>
#include <drey/observe.hpp>

#include "core/size_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace drey {
namespace {

/// Blocks of drey's, given back at the end of the scope.
class Blocks {
 public:
  ~Blocks() {
    for (void* const block : blocks_) drey_free(block);
  }
  void* take(std::size_t size) {
    blocks_.push_back(drey_malloc(size));
    return blocks_.back();
  }
  void take(std::size_t count, std::size_t size) {
    for (std::size_t index = 0; index < count; ++index) take(size);
  }
  void give_back_every_other() {
    std::vector<void*> kept;
    for (std::size_t index = 0; index < blocks_.size(); ++index) {
      if (index % 2 == 0) {
        kept.push_back(blocks_[index]);
      } else {
        drey_free(blocks_[index]);
      }
    }
    blocks_ = kept;
  }
  [[nodiscard]] std::set<const void*> places() const { return {blocks_.begin(), blocks_.end()}; }
  /// The caller frees them.
  [[nodiscard]] std::vector<void*> hand_out() { return std::exchange(blocks_, {}); }

 private:
  std::vector<void*> blocks_;
};

ClassStats class_of_bytes(std::size_t block_bytes) {
  std::vector<ClassStats> classes(200);
  classes.resize(drey_stats_classes(classes.data(), classes.size()));
  for (const ClassStats& one : classes) {
    if (one.block_bytes == block_bytes) return one;
  }
  return ClassStats{};
}

std::set<const void*> live_places(drey_walk_scope_t scope) {
  std::set<const void*> places;
  walk_heap(scope, [&](const Part& part) {
    const bool is_new = part.kind != DREY_PART_BLOCK || places.insert(part.start).second;
    EXPECT_TRUE(is_new) << part.start;
    return true;
  });
  return places;
}

template <typename Write>
std::string text_of(Write write) {
  std::string text(write(nullptr, 0), '\0');
  // What is counted may change in between by what the string took; so with room to spare.
  text.resize(text.size() + 100);
  text.resize(write(text.data(), text.size()));
  return text;
}

TEST(Statistics, LiveBlocksOfAClassAreCountedExactly) {
  const std::size_t before = class_of_bytes(912).live_blocks;
  Blocks blocks;
  blocks.take(1000, 900);
  EXPECT_EQ(class_of_bytes(912).live_blocks, before + 1000);
  EXPECT_EQ(class_of_bytes(912).live_bytes, (before + 1000) * 912);
  blocks.give_back_every_other();
  EXPECT_EQ(class_of_bytes(912).live_blocks, before + 500);
}

TEST(Statistics, ABlockFreedByAnotherThreadIsLiveUntilItIsTakenBack) {
  const std::size_t before = class_of_bytes(4096).live_blocks;
  Blocks blocks;
  blocks.take(20, 4096);
  std::vector<void*> handed_out = blocks.hand_out();
  std::thread([&] {
    for (void* const block : handed_out) drey_free(block);
  }).join();
  EXPECT_EQ(class_of_bytes(4096).live_blocks, before + 20);
  drey_collect();
  EXPECT_EQ(class_of_bytes(4096).live_blocks, before);
}

TEST(Statistics, TheEquationsHold) {
  Blocks blocks;
  for (std::size_t size = 1; size < 300'000; size = size * 5 / 4 + 1) blocks.take(3, size);
  blocks.take(40 << 20);
  blocks.give_back_every_other();
  const Stats stats = statistics();
  EXPECT_EQ(stats.live_bytes + stats.free_slab_bytes, stats.slab_bytes + stats.large_bytes);
  std::vector<ClassStats> classes(200);
  classes.resize(drey_stats_classes(classes.data(), classes.size()));
  std::size_t live = stats.large_block_count + stats.huge_block_count;
  std::size_t slab_bytes = 0;
  std::size_t last_block_bytes = 0;
  for (const ClassStats& one : classes) {
    EXPECT_GT(one.block_bytes, last_block_bytes);
    EXPECT_EQ(one.live_bytes, one.live_blocks * one.block_bytes);
    EXPECT_EQ(one.live_bytes + one.free_bytes, one.slab_bytes);
    EXPECT_GE(one.free_bytes, one.free_blocks * one.block_bytes);
    live += one.live_blocks;
    slab_bytes += one.slab_bytes;
    last_block_bytes = one.block_bytes;
  }
  EXPECT_EQ(live, stats.live_block_count);
  EXPECT_EQ(slab_bytes, stats.slab_bytes);
}

TEST(Statistics, LargeAndHugeBlocksAreCountedWhileTheyLive) {
  const Stats before = statistics();
  {
    Blocks blocks;
    blocks.take(2, 2'000'000);
    blocks.take(40 << 20);
    const Stats stats = statistics();
    EXPECT_EQ(stats.large_block_count, before.large_block_count + 2);
    EXPECT_EQ(stats.huge_block_count, before.huge_block_count + 1);
    EXPECT_EQ(stats.large_bytes, before.large_bytes + 2 * 2'031'616 + (40 << 20));
  }
  const Stats after = statistics();
  EXPECT_EQ(after.large_block_count, before.large_block_count);
  EXPECT_EQ(after.huge_block_count, before.huge_block_count);
}

TEST(Statistics, TextAndJsonSayTheSameAsTheStruct) {
  Blocks blocks;
  blocks.take(10, 900);
  const std::string live = std::to_string(statistics().live_bytes);
  const std::string json = text_of(drey_stats_json);
  EXPECT_NE(json.find("\"live_bytes\":" + live + ","), std::string::npos) << json;
  EXPECT_NE(text_of(drey_stats_text).find("live bytes        " + live + "\n"), std::string::npos);
  EXPECT_EQ(json.front(), '{');
  EXPECT_EQ(json.substr(json.size() - 3), "}}\n");
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
}

TEST(Statistics, ABufferThatIsTooSmallIsCutAndTheWholeLengthIsTold) {
  char buffer[16];
  std::memset(buffer, 'x', sizeof(buffer));
  const std::size_t length = drey_stats_json(buffer, 10);
  EXPECT_GT(length, 100u);
  EXPECT_EQ(std::string(buffer), "{\"allocat");
  EXPECT_EQ(buffer[10], 'x');
}

TEST(Statistics, MayBeReadWhileOthersAllocateAndEnd) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < 3; ++number) {
    threads.emplace_back([&done, number] {
      std::vector<void*> blocks(300);
      for (std::size_t turn = 0; turn < 300'000; ++turn) {
        void*& block = blocks[turn * 7919 % blocks.size()];
        drey_free(block);
        block = drey_malloc(turn * 31 % (turn % 64 == 0 ? 2'000'000 : 2'000));
        // What the survey reads as a link is whatever the block's holder wrote there.
        if (block != nullptr) std::memset(block, static_cast<int>(number * 85), 16 % (turn + 1));
      }
      for (void* const block : blocks) drey_free(block);
      done = true;
    });
  }
  std::vector<char> text(20'000);
  while (!done) {
    const Stats stats = statistics();
    EXPECT_EQ(stats.live_bytes + stats.free_slab_bytes, stats.slab_bytes + stats.large_bytes);
    EXPECT_GT(drey_stats_json(text.data(), text.size()), 100u);
    EXPECT_GT(drey_stats_map(text.data(), text.size()), 100u);
    std::thread([] { drey_free(drey_malloc(100)); }).join();
    walk_heap(DREY_WALK_THREAD, [](const Part& part) { return part.bytes > 0; });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HeapWalk, TellsOfEveryLiveBlockAndOfNoOther) {
  const std::set<const void*> before = live_places(DREY_WALK_PROCESS);
  Blocks blocks;
  for (std::size_t size = 1; size < 300'000; size = size * 3 / 2 + 1) blocks.take(20, size);
  blocks.take(40 << 20);
  blocks.give_back_every_other();
  std::set<const void*> expected = before;
  expected.merge(blocks.places());
  EXPECT_EQ(live_places(DREY_WALK_PROCESS), expected);
}

TEST(HeapWalk, OfTheThreadTellsOfItsSlabsOnly) {
  Blocks first;
  first.take(1, 16);  // this thread has a heap: it would adopt the other's whole
  Blocks other;
  std::thread([&] { other.take(100, 900); }).join();
  const std::set<const void*> before = live_places(DREY_WALK_THREAD);
  Blocks blocks;
  blocks.take(100, 80);
  blocks.take(2'000'000);  // belongs to no thread
  const std::set<const void*> places = live_places(DREY_WALK_THREAD);
  EXPECT_EQ(places.size(), before.size() + 100);
  for (const void* const place : other.places()) EXPECT_EQ(places.count(place), 0u);
}

TEST(HeapWalk, ABlockOnItsWayHomeIsNotLive) {
  Blocks blocks;
  blocks.take(100, 64);
  const std::vector<void*> sent = blocks.hand_out();
  // The freeing thread still runs, so some wait in its outbox and some in the slab's chain.
  std::thread([&] {
    for (void* const block : sent) drey_free(block);
    const std::set<const void*> live = live_places(DREY_WALK_PROCESS);
    for (const void* const block : sent) EXPECT_EQ(live.count(block), 0u);
  }).join();
}

TEST(HeapWalk, PartsCoverTheBlocksThatFollowThem) {
  Blocks blocks;
  blocks.take(500, 48);
  blocks.take(70'000);
  Part part{};
  std::size_t blocks_left = 0;
  walk_heap(DREY_WALK_PROCESS, [&](const Part& next) {
    if (next.kind != DREY_PART_BLOCK) {
      EXPECT_EQ(blocks_left, 0u);
      part = next;
      blocks_left = next.live_blocks;
      EXPECT_LE(next.live_blocks, next.capacity);
      return true;
    }
    --blocks_left;
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(next.start) -
                                                 static_cast<const char*>(part.start));
    EXPECT_EQ(next.bytes, drey_usable_size(next.start));
    EXPECT_LE(offset + next.bytes, part.bytes);
    return true;
  });
  EXPECT_EQ(blocks_left, 0u);
}

TEST(HeapWalk, EndsWhereTheCallbackSaysSo) {
  Blocks blocks;
  blocks.take(10, 100);
  int calls = 0;
  EXPECT_FALSE(walk_heap(DREY_WALK_PROCESS, [&](const Part&) { return ++calls < 3; }));
  EXPECT_EQ(calls, 3);
  EXPECT_FALSE(drey_walk(DREY_WALK_PROCESS, nullptr, nullptr));
}

TEST(HeapWalk, TheCallbackMayAllocateAndFree) {
  Blocks blocks;
  blocks.take(300, 300);
  std::size_t seen = 0;
  walk_heap(DREY_WALK_PROCESS, [&](const Part& part) {
    drey_free(drey_malloc(300));
    drey_free(drey_malloc(100'000));
    seen += part.kind == DREY_PART_BLOCK && part.bytes == 304 ? 1 : 0;
    return true;
  });
  EXPECT_GE(seen, 300u);
}

TEST(OptionCalls, SetAndGetByName) {
  char value[64];
  EXPECT_EQ(drey_option_set("purge_delay_ms", "123"), 0);
  EXPECT_EQ(drey_option_get("DREY_PURGE_DELAY_MS", value, sizeof(value)), 3u);
  EXPECT_STREQ(value, "123");
  EXPECT_EQ(drey_option_set("purge_delay_ms", "soon"), EINVAL);
  EXPECT_EQ(drey_option_set("no_such_option", "1"), ENOENT);
  EXPECT_EQ(drey_option_get("no_such_option", value, sizeof(value)), 0u);
  drey_option_get("purge_delay_ms", value, sizeof(value));
  EXPECT_STREQ(value, "123");
  EXPECT_EQ(set_option("DREY_PURGE_DELAY_MS", "1000"), 0);
}

TEST(OptionCalls, TheRowsAreThoseOfTheTextTable) {
  const std::string table = text_of(drey_options_text);
  std::size_t rows = 0;
  for_each_option([&](const Option& option) {
    ++rows;
    EXPECT_NE(table.find(option.sentence), std::string::npos) << option.name;
    EXPECT_NE(std::string("integer bytes bool choice path").find(option.kind), std::string::npos);
  });
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), 2 * rows);
}
/// Threads of this process by that name.
std::size_t threads_named(const std::string& name) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "comm");
    std::string found;
    if (std::getline(file, found) && found == name) ++count;
  }
  return count;
}

TEST(OptionCalls, ThePurgeThreadSetByCallBeginsAtOnceAndOnce) {
  ASSERT_EQ(threads_named("drey-purge"), 0U);
  EXPECT_EQ(drey_option_set("purge_thread", "1"), 0);
  EXPECT_EQ(drey_option_set("purge_thread", "0"), 0);
  EXPECT_EQ(drey_option_set("purge_thread", "1"), 0);
  // Its name is the first thing it gives itself; the only wait is for it to run.
  while (threads_named("drey-purge") == 0) std::this_thread::yield();
  EXPECT_EQ(threads_named("drey-purge"), 1U);
  EXPECT_EQ(drey_option_set("purge_thread", "0"), 0);
}

}  // namespace
}  // namespace drey
