// reduction.hpp: the mean over all ranks of an array, the same bits on each.
// MeanReduction's way is that of the ranks' communicator: each rank sums one piece of it, in the order of the
// ranks, and gives the sum to all: the array goes over the wire twice however many ranks there are, and no
// library chooses the order of the sum. NcclReduction's is in device memory (nccl_reduction.hpp).
// Read next: communicator.hpp, agent/gradient_exchange.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/numeric/aligned_array.hpp"
#include "trainer/parallel/communicator.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace drey::trainer {
/// Threads: one at a time.
class Reduction {
 public:
  virtual ~Reduction() = default;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  /// values[i] = (sum over the ranks of their values[i]) / ranks. Collective.
  /// Requires: as many values as at construction. Fails: by an exception, where a rank alone may fail.
  virtual void average(std::span<float> values) = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;

 protected:
  Reduction() = default;
};

/// Makes a reduction of arrays of so many values. Not collective. The communicator outlives it.
using MakeReduction =
    std::function<std::unique_ptr<Reduction>(Communicator& communicator, std::size_t value_count)>;

/// A MeanReduction.
[[nodiscard]] std::unique_ptr<Reduction> make_mean_reduction(Communicator& communicator,
                                                             std::size_t value_count);

/// No heap call after construction.
class MeanReduction final : public Reduction {
 public:
  /// For arrays of `value_count` values. `communicator` outlives this.
  MeanReduction(Communicator& communicator, std::size_t value_count);

  /// Sums in the order of the ranks.
  void average(std::span<float> values) override;

  [[nodiscard]] std::size_t bytes() const override {
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
