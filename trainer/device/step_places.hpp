// step_places.hpp: what goes to a device before each step, and what comes back: one copy each way.
// Invariant: the same places in the host's staging memory and in the device's.
// Read next: device_backend.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/device/update_kernels.hpp"

namespace drey::trainer {
/// Shapes: rows (2 batch,), the observations' first; all others (batch,).
struct TermPlaces {
  std::uint32_t* rows;
  std::uint32_t* actions;
  float* rewards;
  float* discounts;
  float* weights;
  StepScalars* scalars;

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t batch) {
    return 6 * batch * sizeof(float) + sizeof(StepScalars);
  }
  [[nodiscard]] static TermPlaces in(std::byte* base, std::size_t batch) {
    auto* const words = reinterpret_cast<std::uint32_t*>(base);
    auto* const values = reinterpret_cast<float*>(words + 3 * batch);
    return {words,          words + 2 * batch,  values,
            values + batch, values + 2 * batch, reinterpret_cast<StepScalars*>(values + 3 * batch)};
  }
};
static_assert(sizeof(std::uint32_t) == sizeof(float));

/// Shapes: errors, losses, taken (batch,); norm_parts (kNormParts,).
struct ResultPlaces {
  float* errors;
  float* losses;
  float* taken;
  float* norm_parts;

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t batch) {
    return (3 * batch + kNormParts) * sizeof(float);
  }
  [[nodiscard]] static ResultPlaces in(std::byte* base, std::size_t batch) {
    auto* const values = reinterpret_cast<float*>(base);
    return {values, values + batch, values + 2 * batch, values + 3 * batch};
  }
};
}  // namespace drey::trainer
