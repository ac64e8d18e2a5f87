// plan_format.hpp: what drey-bench hands to drey-replay: a trace worked out beforehand, so that the
// replay does as little beside the allocator's work as can be.
//
// One file: PlanHeader, its threads, all operations thread by thread. Blocks are slots of a table: an
// operation that makes a block puts it into its slot and then writes its sequence there; one that
// takes it waits until that sequence is there. A slot is used again only by the thread that emptied
// it. In memory and of one build only: there is no version.
// Read next: plan.hpp, replay_program.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace drey::bench {
/// The plan's order in stretches: no thread begins one before all have ended the last but one. Without
/// that a producer would run away from its consumer, and hold memory that was never held.
inline constexpr std::uint64_t kOperationsPerStretch = 256;

inline constexpr std::uint64_t kPlanMagic = 0x6e616c7079657264;  // "dreyplan"

struct PlanHeader {
  std::uint64_t magic;
  std::uint64_t thread_count;
  std::uint64_t slot_count;
  std::uint64_t operation_count;
  std::uint64_t event_count;        ///< operations but for kStart, kPace and kReallocateFrom
  std::uint64_t threads_alive_max;  ///< no more of them at once than in the recording
};

struct PlanThread {
  std::uint64_t first;
  std::uint64_t count;
};

enum class OperationKind : std::uint8_t {
  kMalloc,
  kCalloc,
  kAligned,
  kFree,            ///< size: of the block
  kReallocateFrom,  ///< takes the old block of the operation behind it; size: of the old block
  kReallocateTo,
  kStart,  ///< starts the thread numbered `slot`
  kPace,   ///< waits until every other thread has done what comes before stretch `slot` - 1
};

struct Operation {
  std::uint64_t packed;  ///< bits 0-47 size, 48-55 log2 of the alignment, 56-63 kind
  std::uint32_t slot;
  std::uint32_t sequence;  ///< 1 for the slot's first block, and so on

  [[nodiscard]] OperationKind kind() const noexcept {
    return static_cast<OperationKind>(packed >> 56);
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return packed & ((1ULL << 48) - 1); }
  [[nodiscard]] std::uint64_t alignment() const noexcept { return 1ULL << ((packed >> 48) & 0x3f); }
};
static_assert(sizeof(Operation) == 16);
}  // namespace drey::bench
