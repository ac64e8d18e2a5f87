// reduction.cpp: see reduction.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/reduction.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
std::unique_ptr<Reduction> make_mean_reduction(Communicator& communicator,
                                               std::size_t value_count) {
  return std::make_unique<MeanReduction>(communicator, value_count);
}

MeanReduction::MeanReduction(Communicator& communicator, std::size_t value_count)
    : communicator_(communicator),
      value_count_(value_count),
      piece_((value_count + communicator.size() - 1) / communicator.size()),
      send_(piece_ * communicator.size()),
      receive_(piece_ * communicator.size()),
      sums_(piece_) {}

void MeanReduction::average(std::span<float> values) {
  DREY_ASSERT(values.size() == value_count_);
  const std::size_t ranks = communicator_.size();
  if (ranks == 1) return;
  std::copy(values.begin(), values.end(), send_.data());  // what is behind them stays zero
  communicator_.exchange(send_.span(), receive_.span(), piece_);
  const auto share = 1.0f / static_cast<float>(ranks);
  std::copy_n(receive_.data(), piece_, sums_.data());
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    const float* const part = receive_.data() + rank * piece_;
    for (std::size_t index = 0; index < piece_; ++index) sums_[index] += part[index];
  }
  for (float& sum : sums_.span()) sum *= share;
  communicator_.gather_all(sums_.span(), receive_.span());
  std::copy_n(receive_.data(), values.size(), values.begin());
}
}  // namespace drey::trainer
