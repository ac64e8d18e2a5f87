// quarantine.hpp: where a secure build's freed blocks wait before they may be handed out again.
//
// Two rings, one after the other: in the first a block waits for exactly kQueued more frees, in the
// second for as many as chance has it, so that nobody can tell when it comes back. Blocks above
// 1 KiB have shorter rings of their own, since they hold more memory.
// Invariant: a block in here is zero and its entry says kQuarantined; to its slab it counts as live.
// Threads: its heap's. Read next: secure_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace drey::core {
template <std::size_t kQueued, std::size_t kDrawn>
class QuarantineRing {
  static_assert((kQueued & (kQueued - 1)) == 0 && (kDrawn & (kDrawn - 1)) == 0);

 public:
  /// Puts a block in. Returns: the one that has waited long enough, or null.
  [[nodiscard, gnu::always_inline]] inline void* put(void* block) noexcept {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;  // Source: Knuth's MMIX
    void*& queued = queue_[turn_++ % kQueued];
    void*& drawn = drawn_[(state_ >> 32) % kDrawn];
    void* const second = queued;
    queued = block;
    if (second == nullptr) return nullptr;
    void* const third = drawn;
    drawn = second;
    return third;
  }

  /// Where its sequence of chance begins.
  void seed(std::uint64_t number) noexcept { state_ = number; }

  /// Empties it: `let_go(block)` for each.
  template <typename Action>
  void flush(Action let_go) noexcept {
    flush_places(queue_, kQueued, let_go);
    flush_places(drawn_, kDrawn, let_go);
  }

 private:
  template <typename Action>
  static void flush_places(void** places, std::size_t count, Action let_go) noexcept {
    for (std::size_t index = 0; index < count; ++index) {
      void* const block = places[index];
      places[index] = nullptr;
      if (block != nullptr) let_go(block);
    }
  }

  std::uint64_t state_ = 0;
  std::size_t turn_ = 0;
  void* queue_[kQueued] = {};
  void* drawn_[kDrawn] = {};
};

struct Quarantine {
  /// Frees of small blocks that a small block waits for at least.
  static constexpr std::size_t kSmallQueued = 32;
  static constexpr std::size_t kMediumQueued = 8;

  [[nodiscard, gnu::always_inline]] inline void* put(void* block, std::size_t bytes) noexcept {
    return bytes <= kSmallSizeMax ? small_.put(block) : medium_.put(block);
  }
  void seed(std::uint64_t number) noexcept {
    small_.seed(number);
    medium_.seed(~number);
  }
  template <typename Action>
  void flush(Action let_go) noexcept {
    small_.flush(let_go);
    medium_.flush(let_go);
  }

 private:
  QuarantineRing<kSmallQueued, 32> small_;
  QuarantineRing<kMediumQueued, 8> medium_;
};

/// What a heap has where nothing is quarantined.
struct NoQuarantine {
  void seed(std::uint64_t /*number*/) noexcept {}
};
using HeapQuarantine = std::conditional_t<kSecure, Quarantine, NoQuarantine>;
}  // namespace drey::core
