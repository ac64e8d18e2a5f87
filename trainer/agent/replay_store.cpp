// replay_store.cpp: see replay_store.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/replay_store.hpp"

namespace drey::trainer {
ReplayStore::ReplayStore(ReplayForm form, std::size_t capacity) : form_(form), buffer_(capacity) {
  switch (form) {
    case ReplayForm::kIndex:
      break;
    case ReplayForm::kPool:
      states_.emplace<PoolStates>(capacity);
      break;
    case ReplayForm::kShared:
      states_.emplace<SharedStates>(capacity);
      break;
    case ReplayForm::kCopy:
      states_.emplace<CopyStates>(capacity);
      break;
  }
}

void ReplayStore::put(std::size_t slot, const Transition& transition,
                      const ObservationTable& table) {
  std::visit([&](auto& states) { states.put(slot, transition, table); }, states_);
}

void ReplayStore::restore(std::span<const Transition> stored, std::size_t head,
                          const ObservationTable& table) {
  buffer_.restore(stored, head);
  for (std::size_t slot = 0; slot < stored.size(); ++slot) put(slot, stored[slot], table);
}

void ReplayStore::gather(const Draw& draw, const ObservationTable& table,
                         const StateRoom& room) const {
  std::visit([&](const auto& states) { states.gather(draw, table, room); }, states_);
}

std::size_t ReplayStore::bytes() const {
  return buffer_.capacity() * sizeof(Transition) +
         std::visit([](const auto& states) { return states.bytes(); }, states_);
}
}  // namespace drey::trainer
