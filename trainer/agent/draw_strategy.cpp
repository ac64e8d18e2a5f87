// draw_strategy.cpp: see draw_strategy.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/draw_strategy.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
constexpr std::size_t kPartsOfAge = 5;  // a fifth is the oldest or newest part

/// Of the ages [first, first + count).
void draw_ages(const FilledSlots& filled, std::size_t first, std::size_t count, Random& random,
               std::span<std::uint32_t> slots) {
  for (std::uint32_t& slot : slots) {
    slot = filled.slot_of_age(first + random.below(static_cast<std::uint32_t>(count)));
  }
}

/// One age of each of slots.size() equal parts; parts of less than one transition overlap.
void draw_spread(const FilledSlots& filled, Random& random, std::span<std::uint32_t> slots) {
  const std::size_t parts = slots.size();
  for (std::size_t part = 0; part < parts; ++part) {
    // Borders in whole numbers, at 1/parts of a transition, so that no age is favoured.
    const std::uint64_t place =
        part * filled.size + random.below(static_cast<std::uint32_t>(filled.size));
    slots[part] = filled.slot_of_age(static_cast<std::size_t>(place / parts));
  }
}
}  // namespace

std::string_view name_of(DrawStrategy strategy) {
  switch (strategy) {
    case DrawStrategy::kUniform:
      return "uniform";
    case DrawStrategy::kOldest:
      return "oldest fifth";
    case DrawStrategy::kNewest:
      return "newest fifth";
    case DrawStrategy::kPrioritised:
      return "prioritised";
    case DrawStrategy::kDiverse:
      return "diverse in time";
  }
  return "";
}

void draw_slots(DrawStrategy strategy, const FilledSlots& filled, Random& random,
                std::span<std::uint32_t> slots) {
  DREY_ASSERT(filled.size >= 1 && filled.size <= filled.capacity);
  const std::size_t part = std::max<std::size_t>(1, filled.size / kPartsOfAge);
  switch (strategy) {
    case DrawStrategy::kUniform:
      // By slot, not by age: the same numbers as ReplayBuffer::sample().
      for (std::uint32_t& slot : slots)
        slot = random.below(static_cast<std::uint32_t>(filled.size));
      return;
    case DrawStrategy::kOldest:
      return draw_ages(filled, 0, part, random, slots);
    case DrawStrategy::kNewest:
      return draw_ages(filled, filled.size - part, part, random, slots);
    case DrawStrategy::kDiverse:
      return draw_spread(filled, random, slots);
    case DrawStrategy::kPrioritised:
      DREY_CHECK(false, "draw_slots: priorities are the sampler's own");
  }
}
}  // namespace drey::trainer
