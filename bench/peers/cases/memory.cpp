// memory.cpp: what blocks cost beyond their bytes, and what stays when they are gone.
//
// blocks/N: 256 MiB of N-byte blocks, all written: resident bytes beyond the asked for, in percent;
// then, all freed, what is still held of them, at once and after 2 s without a call, in percent.
// give_back: 1,280 MiB of which 1 GiB is freed, all but the first fifth; after 2 s idle, beside the
// allocator's own thread where it has one, or 2 s of small pairs (with pauses) without it, the resident bytes beyond the live ones, in percent of those.
// The lists of blocks come from mmap: they are not part of any figure.
// Read next: thread_memory.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace drey::bench {
namespace {
constexpr double kWaitSeconds = 2;
constexpr std::size_t kBlocksBytes = std::size_t{256} << 20;
constexpr std::size_t kGiveBackBytes = std::size_t{1280} << 20;
constexpr std::size_t kObservationBytes = 900;  // 225 floats
constexpr useconds_t kPauseMicroseconds = 1000;

/// Blocks of one size, all written. The list of them is resident before the first is taken.
class Blocks {
 public:
  Blocks(std::size_t total_bytes, std::size_t block_bytes) : count_(total_bytes / block_bytes) {
    list_ = static_cast<void**>(mmap(nullptr, count_ * sizeof(void*), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    if (list_ == MAP_FAILED) std::abort();
    rest_bytes_ = resident_bytes();
    for (std::size_t index = 0; index < count_; ++index) {
      list_[index] = std::malloc(block_bytes);
      if (list_[index] == nullptr) std::abort();
      std::memset(list_[index], 1, block_bytes);
    }
  }
  ~Blocks() { munmap(list_, count_ * sizeof(void*)); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void free_from(std::size_t first) {
    for (std::size_t index = first; index < count_; ++index) std::free(list_[index]);
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Resident now, beyond what was before the first block.
  [[nodiscard]] double grown_bytes() const noexcept { return resident_bytes() - rest_bytes_; }

 private:
  std::size_t count_;
  void** list_ = nullptr;
  double rest_bytes_ = 0;
};

void stay_idle() {
  usleep(static_cast<useconds_t>(kWaitSeconds * 1e6));
}

/// Asks the allocators that have one for their thread that gives memory back while all others sleep.
void ask_for_background_thread() {
  using SetOption = int (*)(const char*, const char*);
  using Control = int (*)(const char*, void*, std::size_t*, void*, std::size_t);
  if (auto* const set = reinterpret_cast<SetOption>(dlsym(RTLD_DEFAULT, "drey_option_set"))) {
    if (set("purge_thread", "1") != 0) std::abort();
  } else if (auto* const control = reinterpret_cast<Control>(dlsym(RTLD_DEFAULT, "mallctl"))) {
    bool wanted = true;  // jemalloc's
    static_cast<void>(control("background_thread", nullptr, nullptr, &wanted, sizeof(wanted)));
  }
}

void stay_idle_beside_a_thread() {
  ask_for_background_thread();
  stay_idle();
}

void stay_active() {
  const double end_ns = spent_so_far().wall_ns + kWaitSeconds * 1e9;
  while (spent_so_far().wall_ns < end_ns) {
    for (int pair = 0; pair < 100; ++pair) {
      void* const block = std::malloc(64);
      keep(block);
      std::free(block);
    }
    usleep(kPauseMicroseconds);
  }
}

Figures cost_of_blocks(std::size_t block_bytes) {
  Blocks blocks(kBlocksBytes, block_bytes);
  const double asked_bytes = static_cast<double>(blocks.count() * block_bytes);
  const auto percent = [asked_bytes](double bytes) { return 100.0 * bytes / asked_bytes; };
  const double overhead = percent(blocks.grown_bytes() - asked_bytes);
  blocks.free_from(0);
  const double kept = percent(blocks.grown_bytes());
  stay_idle();
  return {{"overhead_percent", overhead},
          {"kept_percent", kept},
          {"kept_after_2_s_percent", percent(blocks.grown_bytes())}};
}

Figures given_back(void (*wait)()) {
  Blocks blocks(kGiveBackBytes, kObservationBytes);
  const std::size_t live = blocks.count() / 5;
  blocks.free_from(live);
  wait();
  const double live_bytes = static_cast<double>(live * kObservationBytes);
  return {{"excess_percent", 100.0 * (blocks.grown_bytes() / live_bytes - 1.0)}};
}
}  // namespace

void add_memory(CaseList& cases) {
  for (const std::size_t bytes : {16, 24, 64, 100, 900, 1040, 1800, 5000, 57600, 300000, 1100000}) {
    cases.push_back({"memory", "memory/blocks/" + std::to_string(bytes),
                     [bytes](double) { return cost_of_blocks(bytes); }});
  }
  cases.push_back({"memory", "memory/give_back/idle",
                   [](double) { return given_back(stay_idle_beside_a_thread); }});
  cases.push_back(
      {"memory", "memory/give_back/active", [](double) { return given_back(stay_active); }});
}
}  // namespace drey::bench
