// member.cpp: see member.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/member.hpp"

#include <limits>

#include <drey/base/assert.hpp>

#include "trainer/agent/polyak.hpp"

namespace drey::trainer {
namespace {
std::size_t rank_count(const MemberSettings& settings) {
  return settings.ranks == nullptr ? 1 : settings.ranks->size();
}

/// Those of the learner itself: its part of the batch, and no target to follow if that is done here.
LearnerSettings own_settings(const MemberSettings& settings) {
  LearnerSettings own = settings.learner;
  DREY_ASSERT(own.batch_size % rank_count(settings) == 0);
  own.batch_size /= rank_count(settings);
  if (settings.polyak == PolyakForm::kTemporaries) {
    own.target_update = TargetUpdate::kHard;
    own.target_interval = std::numeric_limits<std::uint64_t>::max();
  }
  return own;
}
}  // namespace

Member::Member(const MemberSettings& settings)
    : settings_(settings),
      learner_(settings.make_learner(own_settings(settings),
                                     Random(settings.seed, RandomPurpose::kWeights))),
      reader_(settings.batches, learner_->settings().batch_size, settings.learner.gamma),
      sampling_(settings.seed, RandomPurpose::kReplay),
      slots_(settings.learner.batch_size),
      weights_(settings.learner.batch_size),
      errors_(settings.learner.batch_size) {
  if (settings.strategy == DrawStrategy::kPrioritised) {
    priorities_.emplace(settings.replay_capacity, settings.alpha);
  }
  if (rank_count(settings) > 1) {
    exchange_.emplace(*settings.ranks, learner_->shape().block_size(), settings.make_reduction);
    reader_.set_exchange(&*exchange_);
    part_first_ = settings.ranks->rank() * learner_->settings().batch_size;
  }
}

void Member::draw(const ReplayStore& store, const LearningPlan& plan) {
  if (priorities_) {
    priorities_->sample(sampling_, static_cast<double>(plan.beta), store.size(), slots_.span(),
                        weights_.span());
    return;
  }
  draw_slots(settings_.strategy, {store.size(), store.head(), store.capacity()}, sampling_,
             slots_.span());
}

/// The errors of all ranks' parts make the priorities, so that these stay equal too.
void Member::note_errors() {
  if (exchange_) {
    settings_.ranks->gather_all(learner_->td_errors(), errors_.span());
    priorities_->update(slots_.span(), errors_.span());
  } else {
    priorities_->update(slots_.span(), learner_->td_errors());
  }
}

void Member::follow_with_temporaries() {
  const LearnerSettings& wanted = settings_.learner;
  if (learner_->step_count() % wanted.target_interval != 0) return;
  const float part = wanted.target_update == TargetUpdate::kHard ? 1.0f : wanted.tau;
  polyak_with_temporaries(learner_->network().span(), learner_->target().span(), part);
}

LossReport Member::learn(const ReplayStore& store, const ObservationTable& table,
                         const LearningPlan& plan) {
  draw(store, plan);
  learner_->set_learning_rate(plan.learning_rate);
  const std::size_t part = learner_->settings().batch_size;
  const std::span<const float> weights =
      priorities_ ? std::span<const float>(weights_.span()).subspan(part_first_, part)
                  : std::span<const float>();
  const LossReport report =
      reader_.learn(*learner_, store, table, slots_.span().subspan(part_first_, part), weights);
  if (settings_.polyak == PolyakForm::kTemporaries) follow_with_temporaries();
  if (priorities_) note_errors();
  return report;
}

std::size_t Member::bytes() const {
  return reader_.bytes() + slots_.size() * (sizeof(std::uint32_t) + 2 * sizeof(float)) +
         (priorities_ ? 2 * sizeof(double) * settings_.replay_capacity : 0) +
         (exchange_ ? exchange_->bytes() : 0);
}
}  // namespace drey::trainer
