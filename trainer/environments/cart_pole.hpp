// cart_pole.hpp: balance a pole on a cart: the usual proof that an agent learns.
// Same physics, bounds and rewards as Gymnasium's CartPole-v1: 1 per step, 500 steps at most.
// Source: Barto, Sutton & Anderson, "Neuronlike adaptive elements that can solve difficult learning
// control problems", 1983, section V; the equations of motion after Florian, "Correct equations for
// the dynamics of the cart-pole system", 2007, without friction.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"
#include "trainer/environments/observation_ring.hpp"
#include "trainer/numeric/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace drey::trainer {
class CartPole {
 public:
  static constexpr std::size_t kActionCount = 2;  ///< push left, push right
  static constexpr std::size_t kObservationWidth = 4;
  static constexpr int kStepsMax = 500;

  static constexpr std::size_t kStateSize = 5;  ///< motion and steps

  /// Requires: `ring` is kObservationWidth wide and outlives this.
  explicit CartPole(ObservationRing& ring) : ring_(&ring) {}

  ObservationRow reset(std::uint64_t seed) {
    Random random(seed, RandomPurpose::kEnvironment);
    for (double& value : motion_) value = static_cast<double>(random.between(-0.05f, 0.05f));
    steps_ = 0;
    return observe();
  }

  StepResult step(Action action) {
    move(action == 1 ? kPushNewtons : -kPushNewtons);
    ++steps_;
    const bool fell =
        std::fabs(motion_[0]) > kPositionMaxMeters || std::fabs(motion_[2]) > kAngleMax;
    return {observe(), 1.0, fell, !fell && steps_ == kStepsMax};
  }

  [[nodiscard]] ObservationTable observations() const { return ring_->table(); }

  /// Position, velocity, angle, angular velocity: for tests that start from a known one.
  [[nodiscard]] const std::array<double, 4>& motion() const { return motion_; }
  void set_motion(const std::array<double, 4>& motion) { motion_ = motion; }

  [[nodiscard]] std::array<double, kStateSize> state() const {
    return {motion_[0], motion_[1], motion_[2], motion_[3], static_cast<double>(steps_)};
  }
  bool restore(const std::array<double, kStateSize>& state) {
    const double steps = state[4];
    const bool is_whole = steps >= 0 && steps < kStepsMax && std::floor(steps) == steps;
    if (!is_whole || !std::all_of(state.begin(), state.end(),
                                  [](double value) { return std::isfinite(value); })) {
      return false;
    }
    std::copy_n(state.begin(), motion_.size(), motion_.begin());
    steps_ = static_cast<int>(steps);
    return true;
  }

 private:
  static constexpr double kGravity = 9.8;  // metres per second squared
  static constexpr double kPoleKilograms = 0.1;
  static constexpr double kTotalKilograms = 1.1;  // cart 1.0
  static constexpr double kHalfPoleMeters = 0.5;
  static constexpr double kPushNewtons = 10.0;
  static constexpr double kTickSeconds = 0.02;
  static constexpr double kPositionMaxMeters = 2.4;
  static constexpr double kAngleMax = 12.0 * 2.0 * 3.14159265358979323846 / 360.0;  // radians

  void move(double push) {
    auto& [position, velocity, angle, spin] = motion_;
    const double sine = std::sin(angle);
    const double cosine = std::cos(angle);
    const double push_per_mass =
        (push + kPoleKilograms * kHalfPoleMeters * spin * spin * sine) / kTotalKilograms;
    const double spin_change =
        (kGravity * sine - cosine * push_per_mass) /
        (kHalfPoleMeters * (4.0 / 3.0 - kPoleKilograms * cosine * cosine / kTotalKilograms));
    const double speed_change =
        push_per_mass - kPoleKilograms * kHalfPoleMeters * spin_change * cosine / kTotalKilograms;
    position += kTickSeconds * velocity;
    velocity += kTickSeconds * speed_change;
    angle += kTickSeconds * spin;
    spin += kTickSeconds * spin_change;
  }

  ObservationRow observe() {
    std::array<float, kObservationWidth> observation;
    for (std::size_t index = 0; index < observation.size(); ++index) {
      observation[index] = static_cast<float>(motion_[index]);
    }
    return ring_->add(observation);
  }

  ObservationRing* ring_;
  std::array<double, 4> motion_{};
  int steps_ = 0;
};
static_assert(ResumableEnvironment<CartPole>);
}  // namespace drey::trainer
