// pool_cases.hpp: what drey-pool-cases measures: the same work done several ways, "drey" being one.
//
// Invariants: a case of one name does the same work in each way; the way "malloc" is run once for
// each allocator library, under LD_PRELOAD, every other way without one; figures are per vector or
// block (harness.hpp says how they are measured).
// To add a case: a function in a file of its own, named here, called in main.cpp; its targets in
// pools/pool_targets.cpp.
// Read next: vector_times.cpp, vector_ways.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/cases/harness.hpp"

#include <functional>
#include <string>
#include <vector>

namespace drey::bench {
/// One case in one way.
struct PoolCase {
  std::string group;                       ///< "vector", "arena", ...
  std::string name;                        ///< "vector/pair"
  std::string way;                         ///< "drey", "malloc", "pmr_unsync", ...
  std::function<Figures(double)> measure;  ///< given the seconds it should take
  bool needs_threads = false;              ///< runs on all cores, else bound to one
};
using PoolCaseList = std::vector<PoolCase>;

inline constexpr const char* kDreyWay = "drey";
inline constexpr const char* kMallocWay = "malloc";

void add_vector_times(PoolCaseList& cases);    ///< vector/pair, burst_256, batch_128
void add_vector_threads(PoolCaseList& cases);  ///< vector/cross_thread
void add_vector_memory(PoolCaseList& cases);   ///< vector/memory_100000
void add_arena_times(PoolCaseList& cases);     ///< arena/allocate_64, reset_64_chunks
void add_object_times(PoolCaseList& cases);    ///< object/pair, burst_256
void add_gather_times(PoolCaseList& cases);    ///< gather/128_packed_to_padded and so on
}  // namespace drey::bench
