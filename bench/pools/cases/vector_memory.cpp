// vector_memory.cpp: what 100,000 live vectors cost: resident bytes a vector, all of them written.
// The list of handles is resident before the first vector is taken.
// Read next: pool_cases.hpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/all_vector_ways.hpp"

#include <cstring>
#include <vector>

namespace drey::bench {
namespace {
constexpr std::size_t kLiveVectors = 100'000;

template <class Way>
Figures memory(double) {
  std::vector<typename Way::Handle> handles(kLiveVectors);
  Way way;
  const double rest_bytes = resident_bytes();
  for (auto& handle : handles) {
    handle = way.take();
    if (Way::address(handle) == nullptr) std::abort();
    std::memset(Way::address(handle), 1, kObservationBytes);
  }
  const double grown_bytes = resident_bytes() - rest_bytes;
  for (auto& handle : handles) way.give_back(handle);
  return {{"bytes_each", grown_bytes / static_cast<double>(kLiveVectors)}};
}
}  // namespace

void add_vector_memory(PoolCaseList& cases) {
  cases.push_back({"vector", "vector/memory_100000_packed", kDreyWay, memory<PackedWay>});
  for_each_way([&](const char* name, auto way) {
    cases.push_back({"vector", "vector/memory_100000", name, memory<typename decltype(way)::type>});
  });
}
}  // namespace drey::bench
