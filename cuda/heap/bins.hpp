// bins.hpp: lists of blocks by size: one for each size below 16 granules, sixteen an octave above.
//
// Invariants: a block is in the list of index_of(its granules); a list's bit is set if it is not empty.
// So the smallest list that surely has a fit is found in eight words at most.
// Read next: central_heap.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "heap/block_table.hpp"

#include <drey/base/bits.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// All-zero is empty.
class Bins {
 public:
  static constexpr std::uint32_t kBinCount = 464;

  [[nodiscard]] static constexpr std::uint32_t index_of(std::uint32_t granules) noexcept {
    if (granules < 16) return granules;
    const unsigned exponent = log2_floor(granules);
    return (exponent - 3) * 16 + ((granules >> (exponent - 4)) & 15);
  }

  void add(BlockTable& blocks, BlockIndex index) noexcept {
    Block& block = blocks[index];
    const std::uint32_t bin = index_of(block.granules);
    block.previous = kNoBlock;
    block.next = heads_[bin];
    if (block.next != kNoBlock) blocks[block.next].previous = index;
    heads_[bin] = index;
    words_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  }

  void remove(BlockTable& blocks, BlockIndex index) noexcept {
    const Block& block = blocks[index];
    const std::uint32_t bin = index_of(block.granules);
    if (block.next != kNoBlock) blocks[block.next].previous = block.previous;
    if (block.previous != kNoBlock) {
      blocks[block.previous].next = block.next;
    } else {
      heads_[bin] = block.next;
      if (block.next == kNoBlock) words_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
    }
  }

  /// The first list from `bin` on that is not empty; kBinCount if there is none.
  [[nodiscard]] std::uint32_t next(std::uint32_t bin) const noexcept {
    // 464 is no multiple of 64: a bin behind the last is in the last word or behind it.
    for (std::uint32_t word = bin / 64; word < kWords; ++word) {
      std::uint64_t bits = words_[word];
      if (word == bin / 64) bits &= ~std::uint64_t{0} << (bin % 64);
      if (bits != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return kBinCount;
  }
  /// The last list that is not empty; kBinCount if there is none.
  [[nodiscard]] std::uint32_t last() const noexcept {
    for (std::uint32_t word = kWords; word-- != 0;) {
      if (words_[word] != 0)
        return word * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(words_[word]));
    }
    return kBinCount;
  }
  [[nodiscard]] BlockIndex head(std::uint32_t bin) const noexcept { return heads_[bin]; }

 private:
  static constexpr std::uint32_t kWords = (kBinCount + 63) / 64;
  std::uint64_t words_[kWords];
  BlockIndex heads_[kBinCount];
};
static_assert(Bins::index_of(15) == 15 && Bins::index_of(16) == 16 && Bins::index_of(17) == 17);
static_assert(Bins::index_of(UINT32_MAX) == Bins::kBinCount - 1);
}  // namespace drey::cuda
