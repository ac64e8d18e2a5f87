// cache_lines.cpp: do two threads get blocks of one cache line? Then each write of one costs the
// other a miss. An operation is one block taken, written 1,000 times and given back.
//
// thrash: each thread takes its own blocks; one that shares lines among threads pays. scratch: each
// thread first gives back a block that the main thread took; one that hands that very block out
// again carries the sharing on.
// Source of the shapes: E. Berger et al., "Hoard: A Scalable Memory Allocator", ASPLOS 2000, 5.2.
// Read next: library.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"
#include "peers/cases/thread_team.hpp"

#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kThreads = 2;
constexpr std::size_t kBytes = 8;
constexpr int kWrites = 1000;

void take_write_and_give_back(std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    auto* const block = static_cast<volatile char*>(std::malloc(kBytes));
    for (int write = 0; write < kWrites; ++write) {
      for (std::size_t place = 0; place < kBytes; ++place) {
        block[place] = static_cast<char>(block[place] + 1);
      }
    }
    std::free(const_cast<char*>(block));
  }
}

Figures thrash(double seconds) {
  ThreadTeam team(kThreads);
  return cost_of(seconds, static_cast<double>(kThreads), [&](std::size_t count) {
    team.run([&](std::size_t) { take_write_and_give_back(count); });
  });
}

Figures scratch(double seconds) {
  ThreadTeam team(kThreads);
  return cost_of(seconds, static_cast<double>(kThreads), [&](std::size_t count) {
    std::vector<void*> neighbours(kThreads);
    for (void*& block : neighbours) block = std::malloc(kBytes);
    team.run([&](std::size_t member) {
      std::free(neighbours[member]);
      take_write_and_give_back(count);
    });
  });
}
}  // namespace

void add_cache_lines(CaseList& cases) {
  cases.push_back({"cache", "cache/scratch", scratch, true});
  cases.push_back({"cache", "cache/thrash", thrash, true});
}
}  // namespace drey::bench
