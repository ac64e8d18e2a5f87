// bitmap.hpp: a fixed set of slice indices, with the one search the segment store needs.
// Invariant: bits at and above the size are never set. Threads: one at a time.
// Read next: segment.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::core {
template <std::size_t kBits>
class Bitmap {
  static_assert(kBits % 64 == 0);

 public:
  static constexpr std::size_t kNone = kBits;

  void set_range(std::size_t first, std::size_t count) noexcept {
    for_each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  }
  void clear_range(std::size_t first, std::size_t count) noexcept {
    for_each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
  }
  [[nodiscard]] bool all_set(std::size_t first, std::size_t count) noexcept {
    bool all = true;
    for_each_word(first, count, [&](std::uint64_t& word, std::uint64_t mask) {
      all = all && (word & mask) == mask;
    });
    return all;
  }
  [[nodiscard]] bool test(std::size_t index) const noexcept {
    return ((words_[index / 64] >> (index % 64)) & 1) != 0;
  }
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t total = 0;
    for (const std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
    return total;
  }

  /// First index >= `from` whose bit is `value`; kNone if there is none. Cost: a word at a time.
  [[nodiscard]] std::size_t find_first(bool value, std::size_t from) const noexcept {
    while (from < kBits) {
      const std::uint64_t word = (value ? words_[from / 64] : ~words_[from / 64]) >> (from % 64);
      if (word != 0) return from + static_cast<std::size_t>(std::countr_zero(word));
      from = (from / 64 + 1) * 64;
    }
    return kNone;
  }

  /// Lowest run of `count` set bits whose first index is `phase` modulo `step` (a power of two).
  /// Returns: its first index; kNone if there is none.
  [[nodiscard]] std::size_t find_run(std::size_t count, std::size_t step,
                                     std::size_t phase) const noexcept {
    std::size_t first = 0;
    for (;;) {
      first = find_first(true, first);
      if (first == kNone) return kNone;
      first += (phase - first) & (step - 1);
      if (first + count > kBits) return kNone;
      const std::size_t end = find_first(false, first);
      if (end - first >= count && end >= first) return first;
      first = end > first ? end : first + 1;
    }
  }

  void remove(const Bitmap& other) noexcept {
    for (std::size_t word = 0; word < kBits / 64; ++word) words_[word] &= ~other.words_[word];
  }
  void add(const Bitmap& other) noexcept {
    for (std::size_t word = 0; word < kBits / 64; ++word) words_[word] |= other.words_[word];
  }
  void clear() noexcept {
    for (std::uint64_t& word : words_) word = 0;
  }
  [[nodiscard]] bool empty() const noexcept {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

 private:
  template <typename Action>
  void for_each_word(std::size_t first, std::size_t count, Action action) noexcept {
    DREY_ASSERT(first + count <= kBits);
    while (count > 0) {
      const std::size_t shift = first % 64;
      const std::size_t here = count < 64 - shift ? count : 64 - shift;
      const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1)
                                 << shift;
      action(words_[first / 64], mask);
      first += here;
      count -= here;
    }
  }

  std::uint64_t words_[kBits / 64] = {};
};
}  // namespace drey::core
