// replay_store.hpp: the transitions of a replay buffer and whoever keeps their observations.
// The transitions are always there: what lies in which slot, and what a checkpoint holds, does not
// depend on the form. Invariant: after put() of all stored transitions every form gives the same
// observations for the same slots.
// Read next: state_stores.hpp, batch_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/memory_forms.hpp"
#include "trainer/agent/replay_buffer.hpp"
#include "trainer/agent/state_stores.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace drey::trainer {
/// Threads: add() and restore() alone; gather() by any number of readers while nobody adds.
class ReplayStore {
 public:
  /// Units: transitions. Requires: capacity as ReplayBuffer's; for kPool at most
  /// PoolStates::kCapacityMax, and observations of PoolStates::kWidth values.
  ReplayStore(ReplayForm form, std::size_t capacity);

  /// Over the oldest once full. The observations are in `table` now, and need not stay there but in
  /// the index form.
  void add(const Transition& transition, const ObservationTable& table) {
    const std::size_t slot = buffer_.head();
    buffer_.add(transition);
    if (form_ == ReplayForm::kIndex) return;
    put(slot, transition, table);
  }

  /// Takes over what stored() and head() of another one's buffer() returned.
  void restore(std::span<const Transition> stored, std::size_t head, const ObservationTable& table);

  /// The observations of what was drawn. Shape: room of draw.slots.size() rows.
  void gather(const Draw& draw, const ObservationTable& table, const StateRoom& room) const;

  [[nodiscard]] ReplayForm form() const { return form_; }
  [[nodiscard]] const ReplayBuffer& buffer() const { return buffer_; }
  [[nodiscard]] std::size_t capacity() const { return buffer_.capacity(); }
  [[nodiscard]] std::size_t size() const { return buffer_.size(); }
  [[nodiscard]] std::size_t head() const { return buffer_.head(); }
  /// Transitions, and observations where they are kept here. Cost: linear in the copies.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void put(std::size_t slot, const Transition& transition, const ObservationTable& table);

  ReplayForm form_;
  ReplayBuffer buffer_;
  std::variant<IndexStates, PoolStates, SharedStates, CopyStates> states_;
};
}  // namespace drey::trainer
