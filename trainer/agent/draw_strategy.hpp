// draw_strategy.hpp: from which part of the replay an agent of an ensemble draws its batches, so that
// agents which share one replay still learn different things from it.
//   uniform     every transition alike
//   oldest      the oldest fifth         newest      the newest fifth
//   prioritised in proportion to the TD error that this agent had on it (prioritised_sampler.hpp)
//   diverse     the replay is cut by age into as many equal parts as the batch has places, one draw
//               from each: a batch spans all of the remembered time
// Invariant: every slot drawn is below size(); a fifth of fewer than five transitions is one.
// Read next: ensemble.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace drey::trainer {
enum class DrawStrategy : std::uint8_t { kUniform, kOldest, kNewest, kPrioritised, kDiverse };
inline constexpr std::size_t kDrawStrategies = 5;

/// Agent 0 draws uniformly, as a lone agent does; from the sixth on they begin anew.
[[nodiscard]] constexpr DrawStrategy strategy_of_agent(std::size_t agent) {
  return static_cast<DrawStrategy>(agent % kDrawStrategies);
}

[[nodiscard]] std::string_view name_of(DrawStrategy strategy);

/// What of a ring of slots is filled. The head is where the next one goes, and once all are filled
/// also where the oldest one is.
struct FilledSlots {
  std::size_t size;
  std::size_t head;
  std::size_t capacity;

  /// Slot of the age-th oldest. Requires: age < size.
  [[nodiscard]] std::uint32_t slot_of_age(std::size_t age) const {
    if (size < capacity) return static_cast<std::uint32_t>(age);
    const std::size_t slot = head + age;
    return static_cast<std::uint32_t>(slot < capacity ? slot : slot - capacity);
  }
};

/// Draws `slots` with replacement; a batch may be larger than what there is.
/// Requires: filled.size >= 1; a strategy other than kPrioritised.
void draw_slots(DrawStrategy strategy, const FilledSlots& filled, Random& random,
                std::span<std::uint32_t> slots);
}  // namespace drey::trainer
