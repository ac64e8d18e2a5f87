// all_cases.hpp: the groups of cases. Each file adds its own, under names that start with the
// group's: "pair/64" of "pair".
// Read next: pairs.cpp, main.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/cases/harness.hpp"

namespace drey::bench {
void add_pairs(CaseList& cases);          ///< pair, large
void add_bursts(CaseList& cases);         ///< burst
void add_mixed(CaseList& cases);          ///< mixed
void add_threads(CaseList& cases);        ///< threads
void add_cache_lines(CaseList& cases);    ///< cache
void add_library(CaseList& cases);        ///< library: the C++ library and the other ways in
void add_growth(CaseList& cases);         ///< library: realloc
void add_memory(CaseList& cases);         ///< memory: what blocks cost, and what is kept
void add_thread_memory(CaseList& cases);  ///< memory: what threads cost
void add_scaling(CaseList& cases);        ///< scale
}  // namespace drey::bench
