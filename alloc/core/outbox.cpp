// outbox.cpp: see outbox.hpp.
// SPDX-License-Identifier: MIT
#include "core/outbox.hpp"

#include "core/remote_free.hpp"

namespace drey::core {
std::size_t Outbox::slot_of(const Slab* slab) noexcept {
  // Descriptors are 128 bytes apart; neighbours fall into different slots.
  const std::uintptr_t number = address_of(slab) / sizeof(Slab);
  return (number ^ (number >> 4)) % kSlotCount;
}

const Block* Outbox::waiting_for(const Slab* slab) const noexcept {
  const Chain& chain = chains_[slot_of(slab)];
  return chain.slab == slab ? chain.head : nullptr;
}

void Outbox::send(Chain& chain) noexcept {
  Slab* const slab = chain.slab;
  Block* const head = chain.head;
  // Emptied first: a fork after the hand-over must not leave the blocks in two lists.
  chain.head = nullptr;
  --chain_count_;
  hand_over(slab, head, chain.tail);
}

void Outbox::add(Slab* slab, Block* block) noexcept {
  Chain& chain = chains_[slot_of(slab)];
  if (chain.head != nullptr && chain.slab != slab) send(chain);
  if (chain.head == nullptr) {
    chain.slab = slab;
    chain.tail = block;
    chain.count = 0;
    ++chain_count_;
  }
  link(block, chain.head);
  chain.head = block;
  if (++chain.count == kBlocksMax) send(chain);
}

void Outbox::flush_chains() noexcept {
  for (Chain& chain : chains_) {
    if (chain.head != nullptr) send(chain);
  }
}

bool Outbox::empty() const noexcept {
  return chain_count_ == 0;
}
}  // namespace drey::core
