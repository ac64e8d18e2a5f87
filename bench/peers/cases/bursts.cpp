// bursts.cpp: many blocks of one size taken, then all given back: in the order they were taken, in
// reverse, at random. 100,000 blocks only up to 1,800 bytes: the largest burst holds 180 MB.
// Read next: mixed.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <cstdlib>
#include <numeric>

namespace drey::bench {
namespace {
constexpr std::size_t kLongBurst = 100000;
constexpr std::size_t kLongBurstBytesMax = 1800;

std::vector<std::size_t> order_named(const std::string& order, std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == "reverse") return {places.rbegin(), places.rend()};
  if (order == "random") {
    Random random;
    for (std::size_t last = count; last-- > 1;)
      std::swap(places[last], places[random.below(last + 1)]);
  }
  return places;
}

Figures burst(double seconds, const std::string& order, std::size_t blocks, std::size_t bytes) {
  const std::vector<std::size_t> places = order_named(order, blocks);
  std::vector<void*> held(blocks);
  return cost_of(seconds, static_cast<double>(blocks), [&](std::size_t count) {
    for (std::size_t round = 0; round < count; ++round) {
      for (void*& block : held) {
        block = std::malloc(bytes);
        touch(block);
      }
      for (const std::size_t place : places) std::free(held[place]);
    }
  });
}
}  // namespace

void add_bursts(CaseList& cases) {
  for (const std::size_t blocks : {std::size_t{1000}, kLongBurst}) {
    for (const std::size_t bytes : {16, 64, 256, 900, 1800, 8192, 57600}) {
      if (blocks == kLongBurst && bytes > kLongBurstBytesMax) continue;
      for (const char* order : {"in_order", "reverse", "random"}) {
        cases.push_back(
            {"burst", "burst/" + std::to_string(blocks) + "/" + order + "/" + std::to_string(bytes),
             [=](double seconds) { return burst(seconds, order, blocks, bytes); }});
      }
    }
  }
}
}  // namespace drey::bench
