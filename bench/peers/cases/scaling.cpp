// scaling.cpp: does a pair cost the same as the work grows? 100 blocks of 64 bytes are taken and
// given back, over and over: beside ever more live blocks, and by ever more threads at once. The
// live blocks are not touched while the clock runs, so that cache misses on them do not count.
// Read next: main.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"
#include "peers/cases/thread_team.hpp"

#include <array>
#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kBytes = 64;
constexpr std::size_t kRunBlocks = 100;
constexpr double kLonger = 4;  // 64 threads share the time, and each has to warm up

void take_and_give_back_runs(std::size_t count) {
  std::array<void*, kRunBlocks> blocks{};
  for (std::size_t round = 0; round < count; ++round) {
    for (void*& block : blocks) {
      block = std::malloc(kBytes);
      touch(block);
    }
    for (void* const block : blocks) std::free(block);
  }
}

/// Every eighth live block is given back first: the heap has holes, as heaps have.
Figures beside_live(double seconds, std::size_t live_count) {
  std::vector<void*> live(live_count);
  for (void*& block : live) block = std::malloc(kBytes);
  for (std::size_t index = 0; index < live.size(); index += 8)
    std::free(std::exchange(live[index], nullptr));
  Figures figures = cost_of(seconds, static_cast<double>(kRunBlocks), take_and_give_back_runs);
  for (void* const block : live) std::free(block);
  return figures;
}

Figures by_threads(double seconds, std::size_t thread_count) {
  ThreadTeam team(thread_count);
  return cost_of(
      kLonger * seconds, static_cast<double>(kRunBlocks * thread_count),
      [&](std::size_t count) { team.run([&](std::size_t) { take_and_give_back_runs(count); }); });
}
}  // namespace

void add_scaling(CaseList& cases) {
  for (const std::size_t live : {1000, 10000, 100000, 1000000, 10000000}) {
    cases.push_back({"scale", "scale/live/" + std::to_string(live),
                     [live](double seconds) { return beside_live(seconds, live); }});
  }
  for (const std::size_t threads : {1, 2, 4, 8, 16, 32, 64}) {
    cases.push_back({"scale", "scale/threads/" + std::to_string(threads),
                     [threads](double seconds) { return by_threads(seconds, threads); }, true});
  }
}
}  // namespace drey::bench
