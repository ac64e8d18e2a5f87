// memory_forms.hpp: the ways in which memory can be used, each mended one first, and the names of what an
// ensemble can do. All forms give the same weights; the wasteful ones are there to be raced
// (scripts/seven-fixes). Read next: state_stores.hpp, batch_reader.hpp, polyak.hpp, run_monitor.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::trainer {
/// Who keeps the observations of remembered transitions (state_stores.hpp).
enum class ReplayForm : std::uint8_t { kIndex, kPool, kShared, kCopy };
/// The arrays of a batch (batch_reader.hpp).
enum class BatchForm : std::uint8_t { kReused, kFresh };
/// The target network's update (polyak.hpp).
enum class PolyakForm : std::uint8_t { kFused, kTemporaries };
/// Statistics of rewards and losses, and the last actions (run_monitor.hpp).
enum class MonitorForm : std::uint8_t { kWelford, kKeep };
enum class HistoryForm : std::uint8_t { kRing, kErase };
/// Who has a replay: all members of an ensemble together, or each of them (ensemble.hpp).
enum class AgentReplay : std::uint8_t { kShared, kOwn };

/// How the members of an ensemble act as one (council.hpp).
enum class Agreement : std::uint8_t { kMean, kVote };
inline constexpr std::size_t kMembersMax = 16;
}  // namespace drey::trainer
