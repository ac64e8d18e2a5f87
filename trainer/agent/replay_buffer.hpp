// replay_buffer.hpp: the last transitions, oldest overwritten first, sampled uniformly. A
// transition names its observations by row, so it takes 16 bytes, not 1,808.
// Invariants: size() <= capacity(); no heap call after construction; the head is where the next
// transition goes, and once full also where the oldest one is. Source: Mnih et al., "Human-level
// control through deep reinforcement learning", 2015, Algorithm 1.
// Read next: agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/transition.hpp"
#include "trainer/numeric/aligned_array.hpp"
#include "trainer/numeric/random.hpp"

#include <drey/base/assert.hpp>

#include <span>

namespace drey::trainer {
/// Threads: one at a time.
class ReplayBuffer {
 public:
  /// Units: transitions. Requires: 1 <= capacity < 2^32.
  explicit ReplayBuffer(std::size_t capacity) : transitions_(capacity) {
    DREY_ASSERT(capacity > 0);
  }

  [[nodiscard]] std::size_t capacity() const { return transitions_.size(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t head() const { return head_; }

  void add(const Transition& transition) {
    transitions_[head_] = transition;
    head_ = head_ + 1 == capacity() ? 0 : head_ + 1;
    if (size_ < capacity()) ++size_;
    DREY_ASSERT(invariants_hold());
  }

  /// Fills `batch` with transitions drawn uniformly and with replacement. Requires: size() > 0.
  void sample(Random& random, std::span<Transition> batch) const {
    DREY_ASSERT(size_ > 0);
    for (Transition& drawn : batch) {
      drawn = transitions_[random.below(static_cast<std::uint32_t>(size_))];
    }
  }

  /// Slots in storage order, filled ones only: what a checkpoint stores beside head().
  [[nodiscard]] std::span<const Transition> stored() const {
    return transitions_.span().first(size_);
  }

  /// Takes over what stored() and head() of a buffer of the same capacity returned.
  void restore(std::span<const Transition> stored, std::size_t head) {
    DREY_ASSERT(stored.size() <= capacity() && head < capacity());
    for (std::size_t slot = 0; slot < stored.size(); ++slot) transitions_[slot] = stored[slot];
    size_ = stored.size();
    head_ = head;
    DREY_ASSERT(invariants_hold());
  }

  [[nodiscard]] bool invariants_hold() const {
    return size_ <= capacity() && (size_ == capacity() ? head_ < capacity() : head_ == size_);
  }

 private:
  AlignedArray<Transition> transitions_;
  std::size_t size_ = 0;
  std::size_t head_ = 0;
};
}  // namespace drey::trainer
