// update_kernels.hpp: the gradient's norm, then clipping, Adam and the target network's way in one pass.
// Sources: those of numeric/adam.hpp. Invariant: the norm's sum has a fixed order.
// Read next: device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "trainer/device/kernel_body.hpp"

namespace drey::trainer {
inline constexpr std::uint32_t kNormParts = 32;

/// parts[block] = sum of squares of every kNormParts-th group of kThreads values.
struct NormKernel {
  static constexpr const char* kName = "drey_norm";
  static constexpr std::uint32_t kThreads = 128;
  struct Arguments {
    const float* values;
    std::size_t size;
    float* parts;  ///< (kNormParts,)
  };
  struct Shared {
    float sums[kThreads];
  };
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments&) { return kNormParts; }
  /// One sum a thread, then half as many at each phase, then one is stored.
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 9; }
  static constexpr void run(const Arguments& arguments, Place place, Shared& shared, Registers&,
                            std::uint32_t phase) {
    if (phase == 0) {
      float sum = 0;
      for (std::size_t at = place.block * kThreads + place.thread; at < arguments.size;
           at += std::size_t{kNormParts} * kThreads) {
        sum += arguments.values[at] * arguments.values[at];
      }
      shared.sums[place.thread] = sum;
    } else if (phase + 1 < phase_count(arguments)) {
      const std::uint32_t half = kThreads >> phase;
      if (place.thread < half) shared.sums[place.thread] += shared.sums[place.thread + half];
    } else if (place.thread == 0) {
      arguments.parts[place.block] = shared.sums[0];
    }
  }
  template <class Report>
  static void accesses(const Arguments& arguments, Report&& report) {
    report(arguments.values, arguments.size * sizeof(float), false);
    report(arguments.parts, kNormParts * sizeof(float), true);
  }
};
static_assert(NormKernel::kThreads == 1U << 7, "seven halvings: phases 1 to 7");

/// The norm that the parts of NormKernel stand for.
template <class Float>
[[nodiscard]] constexpr Float norm_of_parts(const Float* parts) {
  Float sum = 0;
  for (std::uint32_t part = 0; part < kNormParts; ++part) sum += parts[part];
  return std::sqrt(sum);
}

/// What changes from step to step; staged by the host.
struct StepScalars {
  float rate;        ///< learning rate / (1 - beta1^t)
  float root_scale;  ///< 1 / sqrt(1 - beta2^t)
  float part;        ///< of the target's way; 0 where no update of it is due
};

struct AdamKernel {
  static constexpr const char* kName = "drey_adam";
  static constexpr std::uint32_t kThreads = 256;
  struct Arguments {
    float* weights;
    const float* gradient;
    float* first_moment;
    float* second_moment;
    float* target;
    std::size_t size;
    const float* norm_parts;
    const StepScalars* scalars;
    float beta1, beta2, epsilon, norm_max;
  };
  using Shared = NoMemory;
  using Registers = NoMemory;

  [[nodiscard]] static constexpr std::uint32_t blocks(const Arguments& arguments) {
    return blocks_for(arguments.size, kThreads);
  }
  [[nodiscard]] static constexpr std::uint32_t phase_count(const Arguments&) { return 1; }
  static constexpr void run(const Arguments& by, Place place, Shared&, Registers&, std::uint32_t) {
    const std::size_t at = std::size_t{place.block} * kThreads + place.thread;
    if (at >= by.size) return;
    const float norm = norm_of_parts(by.norm_parts);
    const float slope = by.gradient[at] * (norm > by.norm_max ? by.norm_max / norm : 1.0f);
    const float first = by.beta1 * by.first_moment[at] + (1.0f - by.beta1) * slope;
    const float second = by.beta2 * by.second_moment[at] + (1.0f - by.beta2) * slope * slope;
    const float root = std::sqrt(second) * by.scalars->root_scale;
    const float weight = by.weights[at] - by.scalars->rate * first / (root + by.epsilon);
    by.first_moment[at] = first;
    by.second_moment[at] = second;
    by.weights[at] = weight;
    const float part = by.scalars->part;
    if (part > 0.0f) by.target[at] = (1.0f - part) * by.target[at] + part * weight;
  }
  template <class Report>
  static void accesses(const Arguments& by, Report&& report) {
    const std::size_t bytes = by.size * sizeof(float);
    for (float* written : {by.weights, by.first_moment, by.second_moment, by.target}) {
      report(written, bytes, true);
    }
    report(by.gradient, bytes, false);
    report(by.norm_parts, kNormParts * sizeof(float), false);
    report(by.scalars, sizeof(StepScalars), false);
  }
};
}  // namespace drey::trainer
