// object_times.cpp: objects of 64 bytes made and ended: one at a time, and 256 at once.
// Read next: object_ways.hpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/object_ways.hpp"

#include <array>

namespace drey::bench {
namespace {
constexpr std::size_t kLive = 256;

template <class Way>
Figures pair(double seconds) {
  Way way;
  return cost_of(seconds, 1, [&way](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      BenchObject* const object = way.make(index);
      keep(object);
      way.end(object);
    }
  });
}

/// Ended in the order they came.
template <class Way>
Figures burst(double seconds) {
  Way way;
  std::array<BenchObject*, kLive> objects{};
  return cost_of(seconds, kLive, [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      for (BenchObject*& object : objects) {
        object = way.make(index);
        keep(object);
      }
      for (BenchObject* const object : objects) way.end(object);
    }
  });
}
}  // namespace

void add_object_times(PoolCaseList& cases) {
  for_each_object_way([&cases]<class Way>(const char* name) {
    cases.push_back({"object", "object/pair", name, pair<Way>});
    cases.push_back({"object", "object/burst_256", name, burst<Way>});
  });
}
}  // namespace drey::bench
