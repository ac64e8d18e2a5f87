// place_list.cpp: see place_list.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/place_list.hpp>

#include <drey/pools/pool_memory.hpp>

#include "pool_reports.hpp"

#include <algorithm>
#include <bit>

namespace drey {
namespace {
constexpr unsigned kShift = 6;
constexpr std::uint64_t bit_of(std::size_t index) noexcept {
  return std::uint64_t{1} << (index % 64);
}
}  // namespace

PlaceList::PlaceList(const PoolMemory& memory) noexcept
    : memory_(memory), words_(memory.free_words()), summary_(memory.free_summary()) {}

void PlaceList::push(const std::uint32_t* places, std::size_t count) noexcept {
  for (std::size_t index = 0; index < count; ++index) {
    const std::size_t place = places[index];
    const std::size_t word = place >> kShift;
    if ((words_[word] & bit_of(place)) != 0) [[unlikely]]
      report_twice_in_list(memory_.vector(places[index]));
    words_[word] |= bit_of(place);
    summary_[word >> kShift] |= bit_of(word);
    first_ = std::min(first_, word >> kShift);
  }
  count_ += count;
}

std::size_t PlaceList::pop_below(std::size_t summary_index, std::uint32_t* places,
                                 std::size_t count) noexcept {
  std::size_t got = 0;
  std::uint64_t& summary = summary_[summary_index];
  while (summary != 0 && got < count) {
    const std::size_t word =
        (summary_index << kShift) + static_cast<std::size_t>(std::countr_zero(summary));
    std::uint64_t bits = words_[word];
    for (; bits != 0 && got < count; bits &= bits - 1) {
      const std::size_t place = (word << kShift) + static_cast<std::size_t>(std::countr_zero(bits));
      places[got++] = static_cast<std::uint32_t>(place);
    }
    words_[word] = bits;
    if (bits == 0) summary &= summary - 1;
  }
  return got;
}

std::size_t PlaceList::pop(std::uint32_t* places, std::size_t count) noexcept {
  const std::size_t wanted = std::min(count, count_);
  std::size_t got = 0;
  while (got < wanted) {
    got += pop_below(first_, places + got, wanted - got);
    if (summary_[first_] == 0) ++first_;
  }
  count_ -= got;
  if (count_ == 0) first_ = 0;
  return got;
}
}  // namespace drey
