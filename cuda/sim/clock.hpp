// clock.hpp: vector clocks. A chain is what is ordered in itself: a stream, or the host. A moment is
// a point of a chain; a clock says, of each chain, up to which moment everything is ordered before.
// Invariants: join() never takes anything back. Chain c's own clock covers its own moments.
// Source: FastTrack (Flanagan and Freund, 2009) for epochs instead of whole clocks a use.
// Read next: timeline.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace drey::cuda::sim {
using Chain = std::uint32_t;

struct Moment {
  Chain chain = 0;
  std::uint64_t epoch = 0;
};

class Clock {
 public:
  [[nodiscard]] std::uint64_t at(Chain chain) const {
    return chain < epochs_.size() ? epochs_[chain] : 0;
  }
  [[nodiscard]] bool covers(Moment moment) const { return at(moment.chain) >= moment.epoch; }

  /// All that the other one covers.
  [[nodiscard]] bool covers_all(const Clock& other) const {
    for (std::size_t chain = 0; chain < other.epochs_.size(); ++chain) {
      if (at(static_cast<Chain>(chain)) < other.epochs_[chain]) return false;
    }
    return true;
  }

  void join(const Clock& other) {
    if (epochs_.size() < other.epochs_.size()) epochs_.resize(other.epochs_.size(), 0);
    for (std::size_t chain = 0; chain < other.epochs_.size(); ++chain)
      epochs_[chain] = std::max(epochs_[chain], other.epochs_[chain]);
  }

  void raise(Moment moment) {
    if (epochs_.size() <= moment.chain) epochs_.resize(std::size_t{moment.chain} + 1, 0);
    epochs_[moment.chain] = std::max(epochs_[moment.chain], moment.epoch);
  }

 private:
  std::vector<std::uint64_t> epochs_;
};
}  // namespace drey::cuda::sim
