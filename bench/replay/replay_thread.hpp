// replay_thread.hpp: the replay itself: one real thread for each recorded one, ordered by blocks.
//
// Invariant: a wait is always for an operation that comes earlier in the plan's order, so the replay
// cannot deadlock. Threads are started by whom the plan says, and not before so many have ended that
// no more are alive than in the recording.
// Read next: replay_thread.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/plan_format.hpp"

#include <atomic>
#include <cstdint>

#include <time.h>

namespace drey::bench {
enum class Mode { kTimed, kSampled, kEmpty };

/// Where a block is from its malloc to its free.
struct Slot {
  void* block;
  std::atomic<std::uint32_t> sequence;
};

/// How far a thread has come: the stretch of its next operation. A line of its own: all read it.
struct alignas(64) Progress {
  std::atomic<std::uint64_t> stretch;
};

struct Sample {
  std::uint64_t events;  ///< 0: not taken
  std::uint64_t wall_ns;
  std::int64_t live_bytes;
  std::int64_t resident_bytes;  ///< beyond what there was before the first event
};

struct Replay {
  Mode mode = Mode::kTimed;
  const PlanHeader* plan = nullptr;
  const PlanThread* threads = nullptr;
  const Operation* operations = nullptr;
  Slot* slots = nullptr;
  Progress* progress = nullptr;  ///< by thread
  Sample* samples = nullptr;
  std::uint64_t samples_max = 0;
  std::uint64_t sample_interval = 0;
  std::int64_t resident_before_bytes = 0;
  std::uint64_t wall_start_ns = 0;
  std::atomic<std::uint64_t> wait_ns{0};
  std::atomic<std::uint64_t> alive{0};
  std::atomic<std::uint64_t> events{0};     ///< of a sampled replay
  std::atomic<std::int64_t> live_bytes{0};  ///< of a sampled replay
};

/// One line to standard error, exit code 1.
[[noreturn]] void stop_replay(const char* reason) noexcept;

[[nodiscard]] std::uint64_t clock_ns(clockid_t clock) noexcept;

/// Anonymous resident memory: statm's resident less shared.
[[nodiscard]] std::int64_t resident_bytes() noexcept;

void take_sample(Replay& replay, std::uint64_t index, std::uint64_t events) noexcept;

/// Says of each thread where it will begin.
void set_progress(Replay& replay) noexcept;

/// Replays everything and waits for the last thread.
void replay_all(Replay& replay) noexcept;
}  // namespace drey::bench
