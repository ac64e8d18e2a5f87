// observation_ring.hpp: the observations of worlds that compute them as they go.
// Each observation is stored once, though two transitions name it: as next and as current.
// Invariant: a ring made for replay capacity c keeps each row until every transition naming it has
// left the replay buffer. A transition brings at most two rows (its next observation, and the first
// one of a new episode), so 2c + 2 rows are enough.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"

#include <algorithm>
#include <span>

namespace drey::trainer {
class ObservationRing {
 public:
  ObservationRing(std::size_t width, std::size_t replay_capacity)
      : width_(width),
        stride_(padded_to_lanes(width)),
        rows_(2 * replay_capacity + 2),
        values_(rows_ * stride_) {}

  /// Copies `observation` into the oldest row. Requires: its size is the ring's width.
  ObservationRow add(std::span<const float> observation) {
    const std::size_t row = next_;
    next_ = next_ + 1 == rows_ ? 0 : next_ + 1;
    std::copy(observation.begin(), observation.end(), values_.data() + row * stride_);
    return static_cast<ObservationRow>(row);
  }

  [[nodiscard]] ObservationTable table() const { return {values_.data(), rows_, width_, stride_}; }

 private:
  std::size_t width_;
  std::size_t stride_;
  std::size_t rows_;
  std::size_t next_ = 0;
  AlignedArray<float> values_;
};
}  // namespace drey::trainer
