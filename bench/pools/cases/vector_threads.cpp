// vector_threads.cpp: one thread takes vectors, another gives them back. What is counted is CPU time
// of both; who waits sleeps. Nothing is written to the vectors, as in vector_times.cpp: 16,384 of them
// are under way, and their way through the caches would be most of every figure.
// Read next: vector_memory.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/channel.hpp"
#include "peers/cases/thread_team.hpp"
#include "pools/cases/all_vector_ways.hpp"

#include <array>
#include <memory>

namespace drey::bench {
namespace {
constexpr std::size_t kVectorsOfABatch = 4096;

template <class Way>
Figures cross_thread(double seconds) {
  using Handles = std::array<typename Way::Handle, kVectorsOfABatch>;
  Way way;
  const auto channel = std::make_unique<BatchChannel<Handles>>();
  ThreadTeam team(2);
  return cost_of(seconds, static_cast<double>(kVectorsOfABatch), [&](std::size_t count) {
    team.run([&](std::size_t member) {
      stay_on_processor(member);
      for (std::size_t round = 0; round < count; ++round) {
        if (member == 0) {
          for (auto& handle : channel->empty_batch()) {
            handle = way.take();
            keep(Way::address(handle));
          }
          channel->put();
        } else {
          for (auto& handle : channel->full_batch()) way.give_back(handle);
          channel->take();
        }
      }
    });
  });
}
}  // namespace

void add_vector_threads(PoolCaseList& cases) {
  for_each_shared_way([&](const char* name, auto way) {
    cases.push_back(
        {"vector", "vector/cross_thread", name, cross_thread<typename decltype(way)::type>, true});
  });
}
}  // namespace drey::bench
