// pairs.cpp: a block taken and given back at once: the kindest case there is. Small sizes write one
// byte; large ones are also run with every page touched, and the faults counted: an allocator that
// gives memory back too eagerly pays for it there.
// Read next: bursts.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kPageBytes = 4096;
/// From one touch to the next: another cache line in each page. The same line of all pages falls
/// into one set of the first-level cache, and the time would be that of 32 stores in each other's
/// way (212 ns without any malloc, 100 with a fence a round: who has atomics would look fast).
constexpr std::size_t kTouchStepBytes = kPageBytes + 64;

void take_and_give_back(std::size_t bytes, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    void* const block = std::malloc(bytes);
    keep(block);
    std::free(block);
  }
}

void take_touch_and_give_back(std::size_t bytes, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    auto* const block = static_cast<char*>(std::malloc(bytes));
    if (block == nullptr) std::abort();
    for (std::size_t offset = 0; offset < bytes; offset += kTouchStepBytes) touch(block + offset);
    keep(block);
    std::free(block);
  }
}

/// Faults a page touched, beside the time.
Figures touched(double seconds, std::size_t bytes) {
  Figures figures =
      cost_of(seconds, 1, [bytes](std::size_t count) { take_touch_and_give_back(bytes, count); });
  const std::size_t page_count = bytes / kPageBytes;
  figures.emplace_back("faults_per_page", figures.back().second / static_cast<double>(page_count));
  return figures;
}
}  // namespace

void add_pairs(CaseList& cases) {
  for (const std::size_t bytes :
       {16, 24, 64, 100, 256, 512, 900, 1024, 1800, 4096, 8192, 16384, 57600, 65536}) {
    cases.push_back({"pair", "pair/" + std::to_string(bytes), [bytes](double seconds) {
                       return cost_of(seconds, 1, [bytes](std::size_t count) {
                         take_and_give_back(bytes, count);
                       });
                     }});
  }
  for (const std::size_t bytes : {131072, 1048576, 16777216}) {
    cases.push_back({"large", "large/" + std::to_string(bytes), [bytes](double seconds) {
                       return cost_of(seconds, 1, [bytes](std::size_t count) {
                         take_and_give_back(bytes, count);
                       });
                     }});
    cases.push_back({"large", "large/touched/" + std::to_string(bytes),
                     [bytes](double seconds) { return touched(seconds, bytes); }});
  }
}
}  // namespace drey::bench
