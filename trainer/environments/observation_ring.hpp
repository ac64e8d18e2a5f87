// observation_ring.hpp: the observations of worlds that compute them as they go.
// Each observation is stored once, though two transitions name it: as next and as current.
// Invariant: a ring made for replay capacity c, w worlds and n-step returns keeps each row until
// every transition naming it has left the replay buffer. A step brings at most two rows (its next
// observation, and the first one of a new episode); its transition is stored at most n w steps
// later and leaves when c others were stored, which itself may lag by n w. So 2 (c + 2 n w) rows are
// enough, and 2 w more for a round that adds its rows before it stores anything.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/environments/environment.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/network.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <span>

namespace drey::trainer {
class ObservationRing {
 public:
  ObservationRing(std::size_t width, std::size_t replay_capacity, std::size_t world_count = 1,
                  std::size_t step_count = 1)
      : width_(width),
        stride_(padded_to_lanes(width)),
        rows_(2 * (replay_capacity + 2 * step_count * world_count) + 2 * world_count),
        values_(rows_ * stride_) {}

  /// Copies `observation` into the oldest row. Requires: its size is the ring's width.
  ObservationRow add(std::span<const float> observation) {
    const std::size_t row = next_;
    next_ = next_ + 1 == rows_ ? 0 : next_ + 1;
    used_ = std::max(used_, row + 1);
    std::copy(observation.begin(), observation.end(), values_.data() + row * stride_);
    return static_cast<ObservationRow>(row);
  }

  [[nodiscard]] ObservationTable table() const { return {values_.data(), rows_, width_, stride_}; }

  /// Rows written so far, the first ones of the table; and the one that is written next: what a
  /// checkpoint stores beside their contents.
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] std::size_t next() const { return next_; }

  /// Takes over contents, (used, width) without padding, and next() of a ring of the same shape.
  /// Requires: contents.size() is a multiple of the width; next <= used <= rows.
  void restore(std::span<const float> contents, std::size_t next) {
    used_ = contents.size() / width_;
    next_ = next;
    DREY_ASSERT(used_ <= rows_ && next_ <= used_ && next_ < rows_);
    for (std::size_t row = 0; row < used_; ++row) {
      std::copy_n(contents.data() + row * width_, width_, values_.data() + row * stride_);
    }
  }

 private:
  std::size_t width_;
  std::size_t stride_;
  std::size_t rows_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;
  AlignedArray<float> values_;
};
}  // namespace drey::trainer
