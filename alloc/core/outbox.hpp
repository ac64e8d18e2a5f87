// outbox.hpp: frees on their way to other threads' slabs, chained by slab, so that one hand-over
// (one compare-and-swap) carries many blocks.
//
// Invariants: a chain holds blocks of one slab only; chains of one slot end at kBlocksMax blocks; a
// chain links its block first and moves its head after, so a fork in between leaves a sound list.
// Threads: its heap's thread. Read next: remote_free.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::core {
struct Heap;

class Outbox {
 public:
  /// Blocks longer than this are handed over at once: they hold too much memory to wait.
  static constexpr std::size_t kBlockBytesMax = 1_KiB;
  static constexpr std::uint32_t kBlocksMax = 32;

  /// Adds a block of another heap's slab; hands chains over as they fill or as slots are needed.
  void add(Slab* slab, Block* block) noexcept;

  /// Hands every chain over.
  void flush() noexcept {
    if (chain_count_ != 0) flush_chains();
  }

  [[nodiscard]] bool empty() const noexcept;

  /// The blocks of `slab` in here, linked. For walks at quiet points.
  [[nodiscard]] const Block* waiting_for(const Slab* slab) const noexcept;

 private:
  struct Chain {
    Slab* slab;
    Block* head;
    Block* tail;
    std::uint32_t count;
  };
  static constexpr std::size_t kSlotCount = 16;

  [[nodiscard]] static std::size_t slot_of(const Slab* slab) noexcept;
  void send(Chain& chain) noexcept;
  void flush_chains() noexcept;

  std::uint32_t chain_count_;  ///< of chains that are not empty
  Chain chains_[kSlotCount];
};
}  // namespace drey::core
