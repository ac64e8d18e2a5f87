// main.cpp: the program of the micro cases: checks whose malloc it runs on, then hands over to
// Google Benchmark, with the allocator's name in the context of its report.
// Read next: ../subject.hpp, measure.hpp, small_blocks.cpp.
// SPDX-License-Identifier: MIT
#include "subject.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  drey::bench::require_claimed_allocator(argc, argv);
  benchmark::AddCustomContext("active_allocator", drey::bench::active_allocator_json());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
