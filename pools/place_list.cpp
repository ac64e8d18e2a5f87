// place_list.cpp: see place_list.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/place_list.hpp>

#include <drey/pools/place_cache.hpp>
#include <drey/pools/pool_memory.hpp>

#include "pool_reports.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace drey {
namespace {
constexpr std::uint32_t kLeaderPlacesMax = 128;
}

struct PlaceList::Leader {
  std::uint32_t next;   ///< the leader below, or kNoPlace
  std::uint32_t count;  ///< of places behind this
  std::uint32_t* places() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }
};

PlaceList::PlaceList(const PoolMemory& memory) noexcept
    : memory_(memory),
      // In the values only: the lanes behind them stay zero.
      room_(std::min<std::uint32_t>(
          kLeaderPlacesMax,
          static_cast<std::uint32_t>((memory.shape().values_bytes - sizeof(Leader)) /
                                     sizeof(std::uint32_t)))),
      first_(kNoPlace) {}

PlaceList::Leader& PlaceList::leader(std::uint32_t place) const noexcept {
  auto& found = *std::launder(static_cast<Leader*>(memory_.vector(place)));
  const bool is_sound =
      found.count <= room_ && (found.next == kNoPlace || found.next < memory_.opened());
  if (!is_sound) report_written_while_free(memory_.vector(place));
  return found;
}

void PlaceList::push(const std::uint32_t* places, std::size_t count) noexcept {
  count_ += count;
  while (count != 0) {
    if (first_ == kNoPlace || leader(first_).count == room_) {
      ::new (memory_.vector(*places)) Leader{.next = first_, .count = 0};
      first_ = *places++;
      --count;
      continue;
    }
    Leader& top = leader(first_);
    const std::size_t part = std::min<std::size_t>(count, room_ - top.count);
    std::memcpy(top.places() + top.count, places, part * sizeof(std::uint32_t));
    top.count += static_cast<std::uint32_t>(part);
    places += part;
    count -= part;
  }
}

std::size_t PlaceList::pop(std::uint32_t* places, std::size_t count) noexcept {
  std::size_t got = 0;
  while (got < count && first_ != kNoPlace) {
    Leader& top = leader(first_);
    if (top.count == 0) {
      places[got++] = first_;
      first_ = top.next;
      continue;
    }
    const std::size_t part = std::min<std::size_t>(count - got, top.count);
    top.count -= static_cast<std::uint32_t>(part);
    std::memcpy(places + got, top.places() + top.count, part * sizeof(std::uint32_t));
    got += part;
  }
  for (std::size_t index = 0; index < got; ++index) {
    if (places[index] >= memory_.opened()) report_written_while_free(memory_.vector(0));
  }
  count_ -= got;
  return got;
}
}  // namespace drey
