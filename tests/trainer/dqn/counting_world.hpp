// counting_world.hpp: a world whose observations say which step of which episode they are, so that a
// test can tell from a row alone what a transition must be.
//   observation = (episode's seed as a small number, steps done); reward = steps done before it
// Episodes end after `steps_max` steps: by truncation if the seed is even, else by termination.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "trainer/environments/environment.hpp"
#include "trainer/environments/observation_ring.hpp"

namespace drey::trainer {
class CountingWorld {
 public:
  static constexpr std::size_t kActionCount = 2;
  static constexpr std::size_t kObservationWidth = 2;
  static constexpr std::size_t kStateSize = 2;

  explicit CountingWorld(ObservationRing& ring, int steps_max = 5)
      : ring_(&ring), steps_max_(steps_max) {}

  ObservationRow reset(std::uint64_t seed) {
    episode_ = static_cast<float>(seed % 1000000);
    steps_ = 0;
    return observe();
  }
  StepResult step(Action /*action*/) {
    const double reward = steps_;
    ++steps_;
    const bool is_over = steps_ == steps_max_;
    const bool is_even = std::fmod(episode_, 2.0F) == 0;
    return {observe(), reward, is_over && !is_even, is_over && is_even};
  }
  [[nodiscard]] ObservationTable observations() const { return ring_->table(); }
  [[nodiscard]] std::array<double, kStateSize> state() const {
    return {static_cast<double>(episode_), static_cast<double>(steps_)};
  }
  bool restore(const std::array<double, kStateSize>& state) {
    episode_ = static_cast<float>(state[0]);
    steps_ = static_cast<int>(state[1]);
    return true;
  }

 private:
  ObservationRow observe() {
    const std::array<float, 2> observation = {episode_, static_cast<float>(steps_)};
    return ring_->add(observation);
  }

  ObservationRing* ring_;
  int steps_max_;
  float episode_ = 0;
  int steps_ = 0;
};
static_assert(ResumableEnvironment<CountingWorld>);
}  // namespace drey::trainer
