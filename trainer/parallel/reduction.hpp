// reduction.hpp: the mean over all ranks of an array, the same bits on each.
// Each rank sums one piece of it, in the order of the ranks, and gives the sum to all: the array goes
// over the wire twice however many ranks there are, and no library chooses the order of the sum.
// Read next: communicator.hpp, gradient_exchange.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/parallel/communicator.hpp"

#include <cstddef>
#include <span>

namespace drey::trainer {
/// Threads: one at a time. No heap call after construction.
class MeanReduction {
 public:
  /// For arrays of `value_count` values. `communicator` outlives this.
  MeanReduction(Communicator& communicator, std::size_t value_count);

  /// values[i] = (sum over the ranks in their order of their values[i]) / ranks. Collective.
  /// Requires: as many values as at construction.
  void average(std::span<float> values);

  [[nodiscard]] std::size_t bytes() const {
    return (send_.size() + receive_.size() + sums_.size()) * sizeof(float);
  }

 private:
  Communicator& communicator_;
  std::size_t value_count_;
  std::size_t piece_;  ///< values that one rank sums
  AlignedArray<float> send_;
  AlignedArray<float> receive_;
  AlignedArray<float> sums_;
};
}  // namespace drey::trainer
