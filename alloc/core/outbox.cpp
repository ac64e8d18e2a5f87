// outbox.cpp: see outbox.hpp.
// SPDX-License-Identifier: MIT
#include "core/outbox.hpp"

#include "core/misuse.hpp"
#include "core/remote_free.hpp"

namespace drey::core {
Outbox::Waiting Outbox::waiting_for(const Slab* slab) const noexcept {
  const Note& note = notes_[slot_of(slab)];
  if (note.count == 0 || note.slab != slab) return {};
  return {note.places, note.count};
}

void Outbox::send(Note& note) noexcept {
  const Parcels parcels = pack(*note.slab, note.places, note.count);
  // Emptied first: a fork after the hand-over must not leave the blocks in two lists.
  note.count = 0;
  --note_count_;
  hand_over(note.slab, parcels);
}

void Outbox::add(Slab* slab, Block* block) noexcept {
  Note& note = notes_[slot_of(slab)];
  const Place place = place_of(*slab, block);
  if (note.count != 0) {
    if (note.slab != slab) {
      send(note);
    } else if (note.places[note.count - 1] == place) [[unlikely]] {
      // The plain double free, seen for the price of a compare.
      return report_misuse("double free", block);
    }
  }
  if (note.count == 0) {
    note.slab = slab;
    ++note_count_;
    // It will carry the others: its line is on the way meanwhile.
    __builtin_prefetch(block, 1);
  }
  note.places[note.count] = place;
  if (++note.count == kBlocksMax) send(note);
}

void Outbox::flush_notes() noexcept {
  for (Note& note : notes_) {
    if (note.count != 0) send(note);
  }
}

bool Outbox::empty() const noexcept {
  return note_count_ == 0;
}
}  // namespace drey::core
