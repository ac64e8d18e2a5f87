// large_blocks.cpp: blocks that own their pages, 128 KiB to 16 MiB: the pair alone (does the
// allocator ask the kernel each time?) and with every page written (does it give the pages away?).
// Read next: small_blocks.cpp.
// SPDX-License-Identifier: MIT
#include "micro/measure.hpp"

#include <drey/base/units.hpp>

namespace drey::bench {
namespace {
constexpr std::size_t kPageBytes = 4_KiB;

void large_pair(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
  report_pairs(state, 1);
}

/// As above, every page written; once unmeasured, to warm up.
void large_pair_touched(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto run = [size] {
    auto* block = static_cast<volatile char*>(std::malloc(size));
    for (std::size_t offset = 0; offset < size; offset += kPageBytes) block[offset] = 1;
    std::free(const_cast<char*>(block));
  };
  run();
  for (auto _ : state) run();
  report_pairs(state, 1);
}

void large_sizes(benchmark::internal::Benchmark* cases) {
  for (const std::size_t size : {128_KiB, 1_MiB, 16_MiB}) cases->Arg(static_cast<long>(size));
}

BENCHMARK(large_pair)->Apply(large_sizes);
BENCHMARK(large_pair_touched)->Apply(large_sizes);
}  // namespace
}  // namespace drey::bench
