// mixed.cpp: many live blocks of mixed sizes, one of them replaced at random each step: what a
// program that has run for a while does to its heap. With two threads each has half of the blocks.
//
// Every block is replaced twice over before the clock starts: a young heap mostly meets pages that
// nobody has touched.
// Sizes: "small" is uniform in 8..512; "skewed" is that for three of four blocks, up to 4 KiB for
// three of sixteen and up to 32 KiB for one of sixteen. First and last byte are written.
// Read next: threads.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"
#include "peers/cases/thread_team.hpp"

#include <algorithm>
#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kBigLive = 10'000'000;
/// Replacements before the clock runs: what lives has been replaced more than once, and the heap has
/// about the shape that it keeps.
constexpr std::size_t turnover_of(std::size_t live_count) noexcept {
  return std::max<std::size_t>(2 * live_count, 500'000);
}

std::size_t small_size(std::uint64_t chance) noexcept {
  return 8 + static_cast<std::size_t>(chance % 505);
}

std::size_t skewed_size(std::uint64_t chance) noexcept {
  const std::uint64_t kind = chance & 15;
  const std::uint64_t rest = chance >> 4;
  if (kind < 12) return small_size(rest);
  if (kind < 15) return 513 + static_cast<std::size_t>(rest % 3584);
  return 4097 + static_cast<std::size_t>(rest % 28672);
}

using SizeOf = std::size_t (*)(std::uint64_t);

/// The blocks of one thread.
class Live {
 public:
  Live(std::size_t count, SizeOf size_of, std::uint64_t seed)
      : blocks_(count), size_of_(size_of), random_(seed) {
    for (char*& block : blocks_) block = taken();
  }
  ~Live() {
    for (char* const block : blocks_) std::free(block);
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void replace(std::size_t count) {
    for (std::size_t step = 0; step < count; ++step) {
      char*& block = blocks_[random_.below(blocks_.size())];
      std::free(block);
      block = taken();
    }
  }

 private:
  char* taken() {
    const std::size_t bytes = size_of_(random_.next() >> 8);
    auto* const block = static_cast<char*>(std::malloc(bytes));
    if (block == nullptr) std::abort();
    touch(block);
    touch(block + bytes - 1);
    return block;
  }

  std::vector<char*> blocks_;
  SizeOf size_of_;
  Random random_;
};

Figures mixed(double seconds, SizeOf size_of, std::size_t live_count, std::size_t thread_count) {
  if (thread_count == 1) {
    Live live(live_count, size_of, 1);
    live.replace(turnover_of(live_count));
    return cost_of(seconds, 1, [&](std::size_t count) { live.replace(count); });
  }
  // The threads live as long as their blocks: each replaces its own.
  std::vector<std::unique_ptr<Live>> halves(thread_count);
  ThreadTeam team(thread_count);
  team.run([&](std::size_t member) {
    const std::size_t own = live_count / thread_count;
    halves[member] = std::make_unique<Live>(own, size_of, member + 1);
    halves[member]->replace(turnover_of(own));
  });
  Figures figures = cost_of(seconds, static_cast<double>(thread_count), [&](std::size_t count) {
    team.run([&](std::size_t member) { halves[member]->replace(count); });
  });
  team.run([&](std::size_t member) { halves[member].reset(); });
  return figures;
}
}  // namespace

void add_mixed(CaseList& cases) {
  for (const bool is_skewed : {false, true}) {
    for (const std::size_t live :
         {std::size_t{1000}, std::size_t{10000}, std::size_t{500000}, kBigLive}) {
      if (is_skewed && live == kBigLive) continue;  // it would hold 18 GB
      for (const std::size_t threads : {1, 2}) {
        const SizeOf size_of = is_skewed ? skewed_size : small_size;
        Case one{"mixed",
                 std::string("mixed/") + (is_skewed ? "skewed/" : "small/") + std::to_string(live) +
                     "/" + std::to_string(threads) + (threads == 1 ? "_thread" : "_threads"),
                 [=](double seconds) { return mixed(seconds, size_of, live, threads); }};
        one.needs_threads = threads > 1;
        one.is_big = live == kBigLive;
        cases.push_back(std::move(one));
      }
    }
  }
}
}  // namespace drey::bench
