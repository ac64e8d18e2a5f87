// sum_tree.hpp: numbers that one can be drawn from in proportion to its size, in log2(n) steps.
// Invariant: every inner node is exactly the sum of its two children, so the whole tree follows from
// the leaves, in whatever order they were set: a checkpoint stores the leaves alone.
// Source: Schaul et al., "Prioritized Experience Replay", 2016, appendix B.2.1.
// Read next: prioritised_sampler.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace drey::trainer {
/// Threads: one at a time. No heap call after construction.
class SumTree {
 public:
  /// `capacity` leaves of 0. Requires: 1 <= capacity < 2^32.
  explicit SumTree(std::size_t capacity)
      : capacity_(capacity), leaf_first_(std::bit_ceil(capacity)), nodes_(2 * leaf_first_) {
    DREY_ASSERT(capacity >= 1);
  }

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] double total() const { return nodes_[1]; }
  [[nodiscard]] double at(std::size_t slot) const { return nodes_[leaf_first_ + slot]; }

  /// Requires: slot < capacity(); value finite and not negative. Cost: log2(capacity) additions.
  void set(std::size_t slot, double value) {
    DREY_ASSERT(slot < capacity_ && std::isfinite(value) && value >= 0);
    std::size_t node = leaf_first_ + slot;
    nodes_[node] = value;
    while (node > 1) {
      node /= 2;
      nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
    }
  }

  /// The leaf that `place` falls on, when all lie side by side, each as long as its value.
  /// Requires: total() > 0; 0 <= place. Returns: a leaf that is not 0, even if rounding has put
  /// `place` on or behind the end.
  [[nodiscard]] std::uint32_t find(double place) const {
    DREY_ASSERT(total() > 0 && place >= 0);
    std::size_t node = 1;
    while (node < leaf_first_) {
      const double left = nodes_[2 * node];
      const bool goes_left = place < left || nodes_[2 * node + 1] == 0;
      if (!goes_left) place -= left;
      node = 2 * node + (goes_left ? 0 : 1);
    }
    return static_cast<std::uint32_t>(node - leaf_first_);
  }

  [[nodiscard]] bool invariants_hold() const {
    for (std::size_t node = 1; node < leaf_first_; ++node) {
      if (nodes_[node] != nodes_[2 * node] + nodes_[2 * node + 1]) return false;
    }
    return true;
  }

 private:
  std::size_t capacity_;
  std::size_t leaf_first_;  ///< node of slot 0; nodes 2i and 2i + 1 are the children of node i
  AlignedArray<double> nodes_;
};
}  // namespace drey::trainer
