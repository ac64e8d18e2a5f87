// polyak.hpp: the target network follows the network, outside of the optimiser's pass.
// The learner does this within Adam's own pass over the weights, where it costs neither memory nor
// another way through the cache. Here are the two other forms: in place, for weights that came from
// elsewhere, and with temporaries, as the audited trainer had it.
// Invariant: all three give the same bits. Source: Lillicrap et al., "Continuous control with deep
// reinforcement learning", 2016, Algorithm 1. Read next: numeric/adam.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace drey::trainer {
/// target = (1 - part) target + part network. With part 0 the target stays, with 1 it becomes a copy
/// (unless it held infinities). NaN in either is NaN in the target.
/// Requires: equal sizes, no overlap, both on a cache line. Cost: one pass, no heap call.
void polyak_in_place(std::span<const float> network, std::span<float> target, float part);

/// The same by way of three arrays made for the purpose: (1 - part) target, part network, their sum.
/// Requires: equal sizes, no overlap.
void polyak_with_temporaries(std::span<const float> network, std::span<float> target, float part);
}  // namespace drey::trainer
