// threads.cpp: blocks that cross threads, and threads that come and go.
//
// producer_consumer: one thread takes, the other gives back. exchange: two threads take blocks of
// mixed sizes, swap them batch by batch and give back the other's. born: a thread starts, takes and
// gives back 100 blocks, ends.
// Read next: cache_lines.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"
#include "peers/cases/channel.hpp"
#include "peers/cases/thread_team.hpp"

#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kBlocksOfAThread = 100;

template <class SizeOf>
void fill(Batch& batch, SizeOf size_of) {
  for (void*& block : batch) {
    block = std::malloc(size_of());
    touch(block);
  }
}

void give_back(const Batch& batch) {
  for (void* const block : batch) std::free(block);
}

Figures producer_consumer(double seconds, std::size_t bytes) {
  const auto channel = std::make_unique<Channel>();
  ThreadTeam team(2);
  return cost_of(seconds, static_cast<double>(kBatchBlocks), [&](std::size_t count) {
    team.run([&](std::size_t member) {
      stay_on_processor(member);
      for (std::size_t round = 0; round < count; ++round) {
        if (member == 0) {
          fill(channel->empty_batch(), [bytes] { return bytes; });
          channel->put();
        } else {
          give_back(channel->full_batch());
          channel->take();
        }
      }
    });
  });
}

Figures exchange(double seconds) {
  const auto channels = std::make_unique<std::array<Channel, 2>>();
  ThreadTeam team(2);
  return cost_of(seconds, 2.0 * static_cast<double>(kBatchBlocks), [&](std::size_t count) {
    team.run([&](std::size_t member) {
      stay_on_processor(member);
      Random random(member + 1);
      Channel& out = (*channels)[member];
      Channel& in = (*channels)[1 - member];
      for (std::size_t round = 0; round < count; ++round) {
        fill(out.empty_batch(), [&] { return 8 + random.below(32) * 8; });
        out.put();
        give_back(in.full_batch());
        in.take();
      }
    });
  });
}

void work_of_a_short_life() {
  std::array<void*, kBlocksOfAThread> blocks{};
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    blocks[index] = std::malloc(16 + index * 8);
    touch(blocks[index]);
  }
  for (void* const block : blocks) std::free(block);
}

Figures born(double seconds) {
  stay_on_processor(0);  // its threads too: waking another processor costs more than all else
  return cost_of(seconds, 1, [](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      std::thread thread(work_of_a_short_life);
      thread.join();
    }
  });
}
}  // namespace

void add_threads(CaseList& cases) {
  for (const std::size_t bytes : {64, 900}) {
    cases.push_back({"threads", "threads/producer_consumer/" + std::to_string(bytes),
                     [bytes](double seconds) { return producer_consumer(seconds, bytes); }, true});
  }
  cases.push_back({"threads", "threads/exchange", exchange, true});
  cases.push_back({"threads", "threads/born_100_blocks_ended", born, true});
}
}  // namespace drey::bench
