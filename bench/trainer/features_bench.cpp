// features_bench.cpp: bars a second through the 225 features, on one core.
//
//     build/release/bin/drey-features-bench
//
// The stream has its row read after each bar, as live use would; the whole series also writes the
// matrix, which is memory-bound: 960 bytes a row.
// SPDX-License-Identifier: MIT
#include <benchmark/benchmark.h>

#include <cstddef>

#include "trainer/data/synthetic_bars.hpp"
#include "trainer/features/features.hpp"

namespace {
using namespace drey::trainer;
constexpr std::size_t kBars = 20'000;
constexpr std::uint64_t kSeed = 1;

void stream_of_bars(benchmark::State& state) {
  const BarSeries series = synthetic_bars(kBars, kSeed);
  FeatureStream stream;
  std::size_t next = 0;
  std::int64_t shift_ns = 0;
  for (auto _ : state) {
    Bar bar = series.bars[next];
    bar.timestamp_ns += shift_ns;
    if (stream.push(bar)) benchmark::DoNotOptimize(stream.row().data());
    if (++next == kBars) {
      next = 0;
      shift_ns += series.bars.back().timestamp_ns - series.bars.front().timestamp_ns + kDayNs;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(stream_of_bars);

void whole_series(benchmark::State& state) {
  const BarSeries series = synthetic_bars(kBars, kSeed);
  for (auto _ : state) {
    const FeatureMatrix matrix = compute_features(series);
    benchmark::DoNotOptimize(matrix.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kBars));
}
BENCHMARK(whole_series)->Unit(benchmark::kMillisecond);
}  // namespace
