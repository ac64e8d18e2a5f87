// small_blocks.cpp: blocks up to 57,600 bytes (64 observations of 225 floats) in one thread: pairs,
// bursts given back in three orders, and random replacement among many live blocks.
// Read next: measure.hpp, large_blocks.cpp.
// SPDX-License-Identifier: MIT
#include "micro/measure.hpp"

#include <algorithm>

namespace drey::bench {
namespace {
/// malloc and free at once: the block just freed is the best one to hand out again.
void pair(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
  report_pairs(state, 1);
}

/// Twelve sizes in turn: what a cache of one block cannot serve.
void pair_of_many_sizes(benchmark::State& state) {
  constexpr std::size_t kSizes[] = {24, 900, 64, 1800, 40, 128, 256, 16, 512, 96, 2000, 32};
  void* blocks[std::size(kSizes)];
  for (auto _ : state) {
    for (std::size_t index = 0; index < std::size(kSizes); ++index) {
      blocks[index] = std::malloc(kSizes[index]);
      benchmark::DoNotOptimize(blocks[index]);
    }
    for (void* block : blocks) std::free(block);
  }
  report_pairs(state, static_cast<double>(std::size(kSizes)));
}

/// Takes order.size() blocks and gives them back in that order; once unmeasured, to warm up.
void burst(benchmark::State& state, const std::vector<std::size_t>& order) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<void*> blocks(order.size());
  const auto run = [&] {
    for (void*& block : blocks) {
      block = std::malloc(size);
      touch_first_byte(block);
    }
    for (const std::size_t index : order) std::free(blocks[index]);
  };
  run();
  for (auto _ : state) run();
  report_pairs(state, static_cast<double>(order.size()));
}

constexpr std::size_t kBurstCount = 1000;

void burst_fifo(benchmark::State& state) {
  std::vector<std::size_t> order(kBurstCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  burst(state, order);
}

void burst_lifo(benchmark::State& state) {
  std::vector<std::size_t> order(kBurstCount);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  burst(state, order);
}

void burst_random(benchmark::State& state) {
  burst(state, shuffled_indices(kBurstCount));
}

/// Beyond the caches: 100,000 blocks.
void large_burst_random(benchmark::State& state) {
  burst(state, shuffled_indices(100'000));
}

std::size_t small_size(Random& random) {
  return random.between(8, 512);
}

/// Half below 64 bytes, one in 1,000 above 64 KiB: about what programs ask for.
std::size_t skewed_size(Random& random) {
  const std::size_t draw = random.between(0, 999);
  if (draw < 500) return random.between(8, 64);
  if (draw < 800) return random.between(65, 256);
  if (draw < 950) return random.between(257, 1024);
  if (draw < 990) return random.between(1025, 8192);
  if (draw < 999) return random.between(8193, 65'536);
  return random.between(65'537, 1'048'576);
}

/// `live` blocks of random sizes; each iteration replaces one of them.
void replace(benchmark::State& state, std::size_t (*size_of)(Random&)) {
  const auto live = static_cast<std::size_t>(state.range(0));
  Random random(kSeed);
  std::vector<char*> blocks(live, nullptr);
  for (char*& block : blocks) block = static_cast<char*>(std::malloc(size_of(random)));
  for (auto _ : state) {
    char*& block = blocks[random.between(0, live - 1)];
    std::free(block);
    const std::size_t size = size_of(random);
    block = static_cast<char*>(std::malloc(size));
    block[0] = 1;
    block[size - 1] = 1;
  }
  for (char* block : blocks) std::free(block);
  report_pairs(state, 1);
}

void mixed(benchmark::State& state) {
  replace(state, small_size);
}
void mixed_skewed(benchmark::State& state) {
  replace(state, skewed_size);
}

void pair_sizes(benchmark::internal::Benchmark* cases) {
  for (const int size : {16, 64, 256, 900, 1024, 1800, 4096, 16384, 57600}) cases->Arg(size);
}
void burst_sizes(benchmark::internal::Benchmark* cases) {
  for (const int size : {16, 64, 256, 900}) cases->Arg(size);
}

BENCHMARK(pair)->Apply(pair_sizes);
BENCHMARK(pair_of_many_sizes);
BENCHMARK(burst_lifo)->Apply(burst_sizes);
BENCHMARK(burst_fifo)->Apply(burst_sizes);
BENCHMARK(burst_random)->Apply(burst_sizes)->Arg(1800)->Arg(57600);
BENCHMARK(large_burst_random)->Arg(64);
BENCHMARK(mixed)->Arg(1000)->Arg(10'000);
BENCHMARK(mixed_skewed)->Arg(10'000);
}  // namespace
}  // namespace drey::bench
