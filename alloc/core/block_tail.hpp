// block_tail.hpp: what stands in a secure build's block behind the bytes that were asked for, and
// whether it still does.
//
//   [n bytes asked for][fill, at most 8 bytes][zeros][canary, the block's last 8 bytes]
// Invariants: slack = block bytes - n >= 8; a canary is written and read as one aligned word, so
// that a neighbour may look at it while its owner writes it; it is never zero, nor is its first byte.
// Read next: secure_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drey::core {
inline constexpr std::size_t kTailBytes = sizeof(std::uint64_t);
inline constexpr std::uint64_t kFillWord = 0xeeeeeeeeeeeeeeee;
/// Zeros behind the fill that are looked at, where there is room for them.
inline constexpr std::size_t kZerosChecked = 24;

[[nodiscard]] inline std::uint64_t canary_of(const std::byte* block) noexcept {
  return (secrets.canary ^ address_of(block)) | 1;
}

[[nodiscard]] inline std::uint64_t load_word(const std::byte* place) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

inline void store_word(std::byte* place, std::uint64_t word) noexcept {
  std::memcpy(place, &word, sizeof(word));
}

/// The aligned word at `place`, which another thread may be writing.
[[nodiscard]] inline std::uint64_t load_canary(const std::byte* place) noexcept {
  // Relaxed: a word is either there or not; pairs with store_canary().
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(place), __ATOMIC_RELAXED);
}
inline void store_canary(std::byte* place, std::uint64_t word) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(place), word, __ATOMIC_RELAXED);
}

/// The bytes of the word at B - 16 that are gap, where that is shorter than a word.
[[nodiscard]] constexpr std::uint64_t short_gap_mask(std::size_t gap) noexcept {
  return (~std::uint64_t{0} << (8 * (7 - gap))) << 8;
}
static_assert(short_gap_mask(0) == 0 && short_gap_mask(1) == 0xff00000000000000);
static_assert(std::endian::native == std::endian::little, "a word's last bytes are its high ones");

/// Writes the tail of a block that is zero there. Requires: slack >= kTailBytes.
[[gnu::always_inline]] inline void write_tail(std::byte* block, std::size_t bytes,
                                              std::size_t slack) noexcept {
  const std::size_t gap = slack - kTailBytes;
  if (gap >= sizeof(kFillWord)) {
    store_word(block + bytes - slack, kFillWord);
  } else {
    std::byte* const place = block + bytes - 2 * kTailBytes;
    const std::uint64_t mask = short_gap_mask(gap);
    store_word(place, (load_word(place) & ~mask) | (kFillWord & mask));
  }
  store_canary(block + bytes - kTailBytes, canary_of(block));
}

/// True if it is as it was written.
[[nodiscard, gnu::always_inline]] inline bool tail_is_intact(const std::byte* block,
                                                             std::size_t bytes,
                                                             std::size_t slack) noexcept {
  if (load_canary(block + bytes - kTailBytes) != canary_of(block)) return false;
  const std::size_t gap = slack - kTailBytes;
  if (gap < sizeof(kFillWord)) {
    const std::uint64_t word = load_word(block + bytes - 2 * kTailBytes);
    return ((word ^ kFillWord) & short_gap_mask(gap)) == 0;
  }
  const std::byte* const tail = block + bytes - slack;
  if (load_word(tail) != kFillWord) return false;
  if (gap < sizeof(kFillWord) + kZerosChecked) [[likely]]
    return true;
  return (load_word(tail + 8) | load_word(tail + 16) | load_word(tail + 24)) == 0;
}

/// True if the word before a block is what its neighbour, free or not, has there.
[[nodiscard, gnu::always_inline]] inline bool front_is_intact(const std::byte* block,
                                                              std::size_t bytes) noexcept {
  const std::uint64_t word = load_canary(block - kTailBytes);
  return word == 0 || word == canary_of(block - bytes);
}

/// Zeroes what was asked for and the tail. Requires: bytes is a multiple of 16.
[[gnu::always_inline]] inline void wipe(std::byte* block, std::size_t bytes,
                                        std::size_t slack) noexcept {
  const std::size_t used = align_up(bytes - slack + kTailBytes, kMinAlignmentBytes);
  store_canary(block + bytes - kTailBytes, 0);
  using Lane [[gnu::vector_size(16), gnu::may_alias]] = long long;
  if (used > 256) {
    std::memset(block, 0, used);
    return;
  }
  auto* lane = reinterpret_cast<Lane*>(block);
  for (const Lane* const end = lane + used / sizeof(Lane); lane != end; ++lane) {
    *lane = Lane{};
    asm("" : "+r"(lane));  // else the compiler sees a memset, and calls it
  }
}
}  // namespace drey::core
