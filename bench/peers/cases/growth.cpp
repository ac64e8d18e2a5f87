// growth.cpp: a block that grows by realloc, in small steps and by doubling to 1 GiB, each new byte's
// page written once. An operation is one step; the last block is given back each time.
// Read next: memory.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kStepBytes = 16;
constexpr std::size_t kSmallEndBytes = 65536;
constexpr std::size_t kLargeEndBytes = std::size_t{1} << 30;
constexpr std::size_t kPageBytes = 4096;

char* grown(char* block, std::size_t old_bytes, std::size_t new_bytes) {
  auto* const larger = static_cast<char*>(std::realloc(block, new_bytes));
  if (larger == nullptr) std::abort();
  for (std::size_t offset = old_bytes; offset < new_bytes; offset += kPageBytes) {
    touch(larger + offset);
  }
  return larger;
}

Figures in_small_steps(double seconds) {
  constexpr std::size_t kSteps = kSmallEndBytes / kStepBytes;
  return cost_of(seconds, static_cast<double>(kSteps), [](std::size_t count) {
    for (std::size_t round = 0; round < count; ++round) {
      char* block = nullptr;
      for (std::size_t bytes = 0; bytes < kSmallEndBytes; bytes += kStepBytes) {
        block = grown(block, bytes, bytes + kStepBytes);
      }
      std::free(block);
    }
  });
}

Figures by_doubling(double seconds) {
  double steps = 0;
  for (std::size_t bytes = kStepBytes; bytes < kLargeEndBytes; bytes *= 2) ++steps;
  return cost_of(seconds, steps, [](std::size_t count) {
    for (std::size_t round = 0; round < count; ++round) {
      char* block = grown(nullptr, 0, kStepBytes);
      for (std::size_t bytes = kStepBytes; bytes < kLargeEndBytes; bytes *= 2) {
        block = grown(block, bytes, bytes * 2);
      }
      std::free(block);
    }
  });
}
}  // namespace

void add_growth(CaseList& cases) {
  cases.push_back({"library", "library/realloc_16_bytes_a_step", in_small_steps});
  cases.push_back({"library", "library/realloc_doubling_to_1_GiB", by_doubling});
}
}  // namespace drey::bench
