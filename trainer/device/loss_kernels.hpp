// loss_kernels.hpp: targets, errors and the gradient by the network's outputs, a thread a transition.
// The same formulas as agent/bellman.cpp, where their sources are named; means are the host's to make,
// so that they are summed in double and in order on every backend.
// Read next: update_kernels.hpp. SPDX-License-Identifier: MIT
#pragma once

#include "trainer/device/kernel_body.hpp"

namespace drey::trainer {
struct LossKernel {
  static constexpr const char* kName = "drey_loss";
  static constexpr std::uint32_t kThreads = 128;
  struct Arguments {
    const float* values;   ///< of the network on the observations; (stride, count), as the next two
    const float* chooser;  ///< on the next observations: who chooses the next action
    const float* valuer;   ///< who says what it is worth
    float* deltas;         ///< gradient by `values`
    std::size_t stride, delta_stride;
    std::uint32_t outputs, count;
    const float* rewards;
    const float* discounts;
    const float* weights;
    const std::uint32_t* actions;
    float* errors;  ///< value - target
    float* losses;  ///< each with its weight
    float* taken;   ///< values of the actions taken
    bool is_huber;
  };
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return blocks_for(arguments.count, kThreads);
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }

  static constexpr void run(const Arguments& arguments, Place place, Shared&, Registers&,
                            std::uint32_t) {
    const std::uint32_t index = place.block * kThreads + place.thread;
    if (index >= arguments.count) return;
    const std::uint32_t action = arguments.actions[index];
    const float value = arguments.values[index * arguments.stride + action];
    const float error = value - target_of(arguments, index);
    const float size = error < 0.0f ? -error : error;
    const float weight = arguments.weights[index];
    float* const delta = arguments.deltas + index * arguments.delta_stride;
    for (std::size_t row = 0; row < arguments.delta_stride; ++row) delta[row] = 0.0f;
    const auto count = static_cast<float>(arguments.count);
    if (arguments.is_huber) {
      const float bounded = error < -1.0f ? -1.0f : error > 1.0f ? 1.0f : error;
      delta[action] = weight * bounded / count;
      arguments.losses[index] = weight * (size <= 1.0f ? 0.5f * error * error : size - 0.5f);
    } else {
      delta[action] = weight * (2.0f * error) / count;
      arguments.losses[index] = weight * error * error;
    }
    arguments.errors[index] = error;
    arguments.taken[index] = value;
  }

  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    const std::size_t bytes = arguments.count * sizeof(float);
    for (const float* read : {arguments.values, arguments.chooser, arguments.valuer}) {
      report(read, bytes * arguments.stride, false);
    }
    for (const float* read : {arguments.rewards, arguments.discounts, arguments.weights}) {
      report(read, bytes, false);
    }
    report(arguments.actions, bytes, false);
    report(arguments.deltas, bytes * arguments.delta_stride, true);
    for (float* written : {arguments.errors, arguments.losses, arguments.taken}) {
      report(written, bytes, true);
    }
  }

 private:
  static constexpr float target_of(const Arguments& arguments, std::uint32_t index) {
    const float* const choices = arguments.chooser + index * arguments.stride;
    std::uint32_t best = 0;
    for (std::uint32_t action = 1; action < arguments.outputs; ++action) {
      if (choices[action] > choices[best]) best = action;
    }
    const float discount = arguments.discounts[index];
    const float beyond = arguments.valuer[index * arguments.stride + best];
    // Nothing of an ended episode's beyond may come through, not even a NaN.
    return arguments.rewards[index] + (discount == 0.0f ? 0.0f : discount * beyond);
  }
};
}  // namespace drey::trainer
