// actor.hpp: epsilon-greedy actions for several worlds by one forward pass.
// Invariant: with one world the random numbers and the action are those of Agent::act() for one
// observation, bit for bit: a product's sums do not depend on how many columns it has.
// Read next: agent.hpp, numeric/network.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/council.hpp"
#include "trainer/environments/environment.hpp"
#include "trainer/numeric/network.hpp"
#include "trainer/numeric/random.hpp"

#include <algorithm>
#include <span>

namespace drey::trainer {
/// Threads: one at a time. No heap call after construction.
class Actor {
 public:
  Actor(const NetworkShape& shape, Agreement agreement, std::size_t world_count)
      : stride_(padded_to_lanes(shape.inputs())),
        inputs_(stride_ * world_count),
        council_(shape, agreement, world_count),
        best_(world_count),
        is_greedy_(world_count) {}

  /// Shape: rows, actions (world count). Requires: rows of `table`.
  void act(const Ensemble& ensemble, float epsilon, Random& exploration,
           std::span<const ObservationRow> rows, const ObservationTable& table,
           std::span<Action> actions) {
    const auto action_count =
        static_cast<std::uint32_t>(ensemble.member(0).learner().action_count());
    bool is_any_greedy = false;
    for (std::size_t world = 0; world < rows.size(); ++world) {
      is_greedy_[world] = exploration.unit() >= epsilon;
      is_any_greedy = is_any_greedy || is_greedy_[world];
      if (!is_greedy_[world]) actions[world] = static_cast<Action>(exploration.below(action_count));
    }
    if (!is_any_greedy) return;
    for (std::size_t world = 0; world < rows.size(); ++world) {
      std::copy_n(table.row(rows[world]), table.width, inputs_.data() + world * stride_);
    }
    council_.choose(ensemble, Columns<const float>{inputs_.data(), stride_},
                    best_.span().first(rows.size()));
    for (std::size_t world = 0; world < rows.size(); ++world) {
      if (is_greedy_[world]) actions[world] = best_[world];
    }
  }

 private:
  std::size_t stride_;
  AlignedArray<float> inputs_;
  Council council_;
  AlignedArray<Action> best_;
  AlignedArray<bool> is_greedy_;
};
}  // namespace drey::trainer
