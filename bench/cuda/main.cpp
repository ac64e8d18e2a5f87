// main.cpp: drey-cuda-bench: device allocators side by side on a driver that does nothing, so that what
// is timed is the allocator's own work on the CPU. Counters: driver calls and events a pair.
//
// Cases, each for every allocator: a pair that hits the cache, 512 B to 64 MiB; 1,000 live blocks in
// random order; 10,000 holes between live blocks; a block freed by another thread; two threads.
// Time is the thread's CPU time, of a pair. Compare rows of one run only.
// Read next: shapes.hpp.
// SPDX-License-Identifier: MIT
#include "cuda/cases.hpp"

#include <benchmark/benchmark.h>

int main(int count, char** arguments) {
  drey::bench::register_cuda_cases();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
