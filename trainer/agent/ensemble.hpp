// ensemble.hpp: the members of an agent, the replay they learn from, and the actions they agree on.
// With one member it is what a lone agent needs. With several, each has weights, draws and random numbers
// of its own; they share one replay (one writer, who adds between two trainings, and as many readers as
// there are members, none of whom ever waits for a lock) or have one each.
// On several ranks member i learns on rank i modulo the number of ranks, and its network is sent to the
// others after each training.
// Invariants: the weights depend neither on the number of threads nor on that of ranks; no heap call
// after construction but in the wasteful forms.
// Read next: member.hpp, work_team.hpp, replay_store.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/member.hpp"
#include "trainer/agent/replay_store.hpp"
#include "trainer/agent/work_team.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace drey::trainer {
/// Sums over the gradient steps of a while.
struct LearningTotals {
  double loss = 0;
  double value = 0;
  std::uint64_t gradient_steps = 0;

  void add(const LossReport& report) {
    loss += report.loss;
    value += report.value;
    ++gradient_steps;
  }
  void add(const LearningTotals& other) {
    loss += other.loss;
    value += other.value;
    gradient_steps += other.gradient_steps;
  }
};

struct EnsembleSettings {
  MemberSettings member;         ///< of member 0; the others' seeds and strategies follow from it
  std::size_t count = 1;         ///< members, up to kMembersMax
  std::size_t thread_count = 1;  ///< that learn; more than members are not used
  bool shares_replay = true;
  ReplayForm replay = ReplayForm::kIndex;
  Communicator* ranks = nullptr;  ///< null: this process alone
};

/// Threads: one at a time.
class Ensemble final : private JobSteps {
 public:
  /// Requires: 1 <= count <= kMembersMax.
  explicit Ensemble(const EnsembleSettings& settings);
  ~Ensemble() override = default;
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  /// Over the oldest transition once full. Cost: a copy of it for each replay.
  void add(const Transition& transition, const ObservationTable& table);

  /// `step_count` gradient steps of every member. Returns: the sums over all of them.
  LearningTotals learn(const ObservationTable& table, const LearningPlan& plan,
                       std::uint64_t step_count);

  [[nodiscard]] std::size_t count() const { return members_.size(); }
  [[nodiscard]] Member& member(std::size_t index) { return *members_[index]; }
  [[nodiscard]] const Member& member(std::size_t index) const { return *members_[index]; }
  [[nodiscard]] std::size_t replay_count() const { return replays_.size(); }
  /// That of a member.
  [[nodiscard]] const ReplayStore& replay(std::size_t member = 0) const {
    return *replays_[replays_.size() == 1 ? 0 : member];
  }
  /// Gives all replays these contents: they always hold the same.
  void restore_replay(std::span<const Transition> stored, std::size_t head,
                      const ObservationTable& table);

  /// Brings the whole state of members that learn on other ranks here, for a checkpoint. Collective.
  void collect();

 private:
  void do_steps(std::size_t job, std::size_t step_count) override;
  void share_networks();

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<ReplayStore>> replays_;
  std::optional<WorkTeam> team_;  ///< with several threads
  std::vector<bool> learns_here_;
  Communicator* ranks_ = nullptr;  ///< null where all members learn here
  std::vector<LearningTotals> totals_;
  // The training under way:
  const ObservationTable* table_ = nullptr;
  LearningPlan plan_{};
};
}  // namespace drey::trainer
