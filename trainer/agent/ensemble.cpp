// ensemble.cpp: see ensemble.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/ensemble.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
/// Member 0 has the run's own seed, so a lone agent is the first of an ensemble.
std::uint64_t seed_of_member(std::uint64_t seed, std::size_t member) {
  return member == 0 ? seed : episode_seed(seed, kMembersMax, member);
}

MemberSettings settings_of_member(const EnsembleSettings& settings, std::size_t member) {
  MemberSettings own = settings.member;
  own.seed = seed_of_member(own.seed, member);
  if (member > 0) own.strategy = strategy_of_agent(member);
  // Several members are spread over the ranks; only a lone one's batches are.
  own.ranks = settings.count == 1 ? settings.ranks : nullptr;
  return own;
}

template <class Value>
std::span<std::byte> bytes_of(Value& value) {
  return std::as_writable_bytes(std::span<Value, 1>(&value, 1));
}
}  // namespace

Ensemble::Ensemble(const EnsembleSettings& settings)
    : learns_here_(settings.count, true), totals_(settings.count) {
  DREY_ASSERT(settings.count >= 1 && settings.count <= kMembersMax && settings.thread_count >= 1);
  for (std::size_t index = 0; index < settings.count; ++index) {
    members_.push_back(std::make_unique<Member>(settings_of_member(settings, index)));
  }
  const std::size_t replays = settings.shares_replay ? 1 : settings.count;
  for (std::size_t index = 0; index < replays; ++index) {
    replays_.push_back(
        std::make_unique<ReplayStore>(settings.replay, settings.member.replay_capacity));
  }
  if (settings.count > 1 && settings.ranks != nullptr && settings.ranks->size() > 1) {
    ranks_ = settings.ranks;
    for (std::size_t index = 0; index < settings.count; ++index) {
      learns_here_[index] = index % ranks_->size() == ranks_->rank();
    }
  }
  const std::size_t threads = std::min(settings.thread_count, settings.count);
  if (threads > 1) team_.emplace(threads, settings.count);
}

void Ensemble::add(const Transition& transition, const ObservationTable& table) {
  const std::size_t slot = replays_.front()->head();
  for (const auto& replay : replays_) replay->add(transition, table);
  for (const auto& member : members_) member->stored(slot);
}

void Ensemble::do_steps(std::size_t job, std::size_t step_count) {
  for (std::size_t step = 0; step < step_count; ++step) {
    totals_[job].add(members_[job]->learn(replay(job), *table_, plan_));
  }
}

LearningTotals Ensemble::learn(const ObservationTable& table, const LearningPlan& plan,
                               std::uint64_t step_count) {
  if (step_count == 0) return {};
  table_ = &table;
  plan_ = plan;
  std::fill(totals_.begin(), totals_.end(), LearningTotals());
  if (team_) {
    team_->run(*this, step_count, learns_here_);
  } else {
    for (std::size_t index = 0; index < count(); ++index) {
      if (learns_here_[index]) do_steps(index, step_count);
    }
  }
  if (ranks_ != nullptr) share_networks();
  LearningTotals sum;
  for (const LearningTotals& totals : totals_) sum.add(totals);
  return sum;
}

void Ensemble::share_networks() {
  for (std::size_t index = 0; index < count(); ++index) {
    const std::size_t root = index % ranks_->size();
    ranks_->broadcast(std::as_writable_bytes(member(index).learner().network().span()), root);
    ranks_->broadcast(bytes_of(totals_[index]), root);
  }
}

void Ensemble::collect() {
  if (ranks_ == nullptr) return;
  for (std::size_t index = 0; index < count(); ++index) {
    const std::size_t root = index % ranks_->size();
    Learner& learner = member(index).learner();
    for (AlignedArray<float>* const block :
         {&learner.network(), &learner.target(), &learner.adam().first_moment(),
          &learner.adam().second_moment()}) {
      ranks_->broadcast(std::as_writable_bytes(block->span()), root);
    }
    std::uint64_t adam_steps = learner.step_count();
    RandomState sampling = member(index).sampling().state();
    ranks_->broadcast(bytes_of(adam_steps), root);
    ranks_->broadcast(bytes_of(sampling), root);
    learner.adam().restore_step_count(adam_steps);
    member(index).sampling().restore(sampling);
    PrioritisedSampler* const priorities = member(index).priorities();
    if (priorities == nullptr) continue;
    std::vector<double> leaves(replay(index).size());
    for (std::size_t slot = 0; slot < leaves.size(); ++slot)
      leaves[slot] = priorities->tree().at(slot);
    double largest = priorities->priority_max();
    ranks_->broadcast(std::as_writable_bytes(std::span(leaves)), root);
    ranks_->broadcast(bytes_of(largest), root);
    priorities->restore(leaves, largest);
  }
}

void Ensemble::restore_replay(std::span<const Transition> stored, std::size_t head,
                              const ObservationTable& table) {
  for (const auto& replay : replays_) replay->restore(stored, head, table);
}
}  // namespace drey::trainer
