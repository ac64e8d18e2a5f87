// thread_memory.cpp: what threads cost in memory.
//
// in_turn: 10,000 threads one after another, each with 100 blocks; resident bytes at the end beyond
// those after the first 100. alive: 1,000 threads that live at once; each writes its stack first,
// then takes and gives back 100 blocks and stays: resident bytes between the two, a thread. So
// neither stacks nor what the C library needs for a thread are counted.
// Read next: scaling.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"
#include "peers/cases/thread_team.hpp"

#include <array>
#include <cstdlib>

namespace drey::bench {
namespace {
constexpr std::size_t kInTurn = 10000;
constexpr std::size_t kWarmUp = 100;
constexpr std::size_t kAlive = 1000;
constexpr std::size_t kBlocks = 100;
constexpr std::size_t kStackBytes = 16384;

void take_and_give_back_some() {
  std::array<void*, kBlocks> blocks{};
  for (std::size_t index = 0; index < blocks.size(); ++index) {
    blocks[index] = std::malloc(16 + index * 8);
    touch(blocks[index]);
  }
  for (void* const block : blocks) std::free(block);
}

void run_threads_in_turn(std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    std::thread thread(take_and_give_back_some);
    thread.join();
  }
}

Figures threads_in_turn(double) {
  run_threads_in_turn(kWarmUp);
  const double before_bytes = resident_bytes();
  run_threads_in_turn(kInTurn);
  return {{"grown_bytes", resident_bytes() - before_bytes}};
}

void write_stack(std::size_t) {
  std::array<char, kStackBytes> bytes;
  for (std::size_t offset = 0; offset < bytes.size(); offset += 1024) touch(&bytes[offset]);
  keep(bytes.data());
}

Figures threads_alive(double) {
  ThreadTeam team(kAlive);
  team.run(write_stack);
  const double before_bytes = resident_bytes();
  team.run([](std::size_t) { take_and_give_back_some(); });
  return {{"bytes_a_thread", (resident_bytes() - before_bytes) / static_cast<double>(kAlive)}};
}
}  // namespace

void add_thread_memory(CaseList& cases) {
  cases.push_back({"memory", "memory/threads_in_turn", threads_in_turn, true});
  cases.push_back({"memory", "memory/threads_alive", threads_alive, true});
}
}  // namespace drey::bench
