// expandable_policy.cpp: a model of PyTorch's expandable segments: a range of addresses for each pool and
// stream, memory mapped into it by handles of one size, the lowest address first. Out of memory, whole
// free handles go back.
// Invariant: a piece without memory begins and ends at handles.
// SPDX-License-Identifier: MIT
#include "replay/policies.hpp"
#include "replay/pytorch_lists.hpp"

#include <algorithm>

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kSegmentAddresses = std::uint64_t{1} << 50;
constexpr std::uint64_t kCallsToMap = 3;    // create, map, set access
constexpr std::uint64_t kCallsToUnmap = 2;  // unmap, release

std::uint64_t handle_bytes(std::uint64_t list) {
  return is_large_list(list) ? kPytorchLargeBuffer : kPytorchSmallBuffer;
}

class ExpandablePolicy : public PytorchLists {
 public:
  using PytorchLists::PytorchLists;

  bool allocate(std::uint32_t block, std::uint64_t wanted, std::uint32_t stream) override {
    free_pending();
    const std::uint64_t bytes = round_up(wanted, kPytorchRound);
    const std::uint64_t list = pytorch_list(bytes, stream);
    Pieces::Place place = find_mapped(list, bytes);
    if (place == pieces_.end()) place = map_more(list, bytes);
    if (place == pieces_.end()) {
      release_free_handles();
      place = map_more(list, bytes);
    }
    if (place == pieces_.end()) return false;
    hand_out(block, place, bytes);
    return true;
  }

 private:
  // A piece that could grow counts as large as it could be.
  std::uint64_t size_grown(Pieces::Place place) {
    const auto next = std::next(place);
    const bool grows = next != pieces_.end() && next->second.segment == place->second.segment &&
                       next->second.is_free && !next->second.is_mapped;
    return place->second.bytes + (grows ? next->second.bytes : 0);
  }

  Pieces::Place find_mapped(std::uint64_t list, std::uint64_t bytes) {
    Pieces::Place place = pieces_.best_fit(list, bytes);
    if (place == pieces_.end()) return place;
    const Pieces::Sizes& sizes = pieces_.lists()[list];
    auto next = std::next(sizes.find({place->second.bytes, place->first}));
    while (next != sizes.end()) {
      const Pieces::Place other = pieces_.find(next->second);
      if (size_grown(other) >= size_grown(place)) break;
      place = other;
      ++next;
    }
    return place;
  }

  // The lowest run of free pieces, mapped or not, that is long enough and has room to map.
  Pieces::Place find_run(std::uint64_t list, std::uint64_t bytes) {
    std::vector<std::uint64_t> addresses;
    for (const auto& [size, address] : pieces_.unmapped(list)) addresses.push_back(address);
    std::sort(addresses.begin(), addresses.end());
    for (const std::uint64_t address : addresses) {
      Pieces::Place first = pieces_.find(address);
      if (first != pieces_.begin()) {
        const auto before = std::prev(first);
        if (before->second.is_free && before->second.segment == first->second.segment)
          first = before;
      }
      std::uint64_t found = 0;
      for (auto place = first; place != pieces_.end() && place->second.is_free &&
                               place->second.segment == first->second.segment && found < bytes;
           ++place)
        found += place->second.bytes;
      if (found >= bytes) return first;
    }
    return pieces_.end();
  }

  Pieces::Place map_more(std::uint64_t list, std::uint64_t bytes) {
    if (pieces_.unmapped(list).empty() && !has_segment(list)) {
      const std::uint64_t address = (list + 1) * kSegmentAddresses;
      pieces_.add(address, {kSegmentAddresses / 2, address, list, true, false});
      ++device_.counts.driver_calls;
    }
    Pieces::Place place = find_run(list, bytes);
    if (place == pieces_.end()) return place;
    if (!place->second.is_mapped) place = map_front(place, bytes);
    while (place != pieces_.end() && place->second.bytes < bytes) {
      const auto next = std::next(place);
      place = next->second.is_mapped ? pieces_.merge(place)
                                     : map_front(next, bytes - place->second.bytes);
    }
    return place;
  }

  // Maps as many handles at the front of a piece as `bytes` need; end() without memory for them.
  Pieces::Place map_front(Pieces::Place place, std::uint64_t bytes) {
    const std::uint64_t list = place->second.list;
    const std::uint64_t handle = handle_bytes(list);
    const std::uint64_t mapped = std::min(round_up(bytes, handle), place->second.bytes);
    if (!device_.take(mapped, mapped / handle * kCallsToMap)) return pieces_.end();
    place = pieces_.cut(place, mapped);
    pieces_.change(place, true, list, true);
    return pieces_.merge(place);
  }

  bool has_segment(std::uint64_t list) {
    return pieces_.find((list + 1) * kSegmentAddresses) != pieces_.end();
  }

  void release_free_handles() {
    std::vector<std::uint64_t> addresses;
    for (auto place = pieces_.begin(); place != pieces_.end(); ++place) {
      if (place->second.is_free && place->second.is_mapped) addresses.push_back(place->first);
    }
    for (const std::uint64_t address : addresses) release_handles_in(pieces_.find(address));
  }

  void release_handles_in(Pieces::Place place) {
    const std::uint64_t list = place->second.list;
    const std::uint64_t handle = handle_bytes(list);
    const std::uint64_t base = place->second.segment;
    const std::uint64_t first = base + round_up(place->first - base, handle);
    const std::uint64_t end = base + (place->first + place->second.bytes - base) / handle * handle;
    if (end <= first) return;
    if (first != place->first) place = std::next(pieces_.cut(place, first - place->first));
    place = pieces_.cut(place, end - first);
    const std::uint64_t handles = (end - first) / handle;
    device_.give_back(end - first, handles * kCallsToUnmap);
    device_.counts.page_moves += handles;
    device_.counts.moved_bytes += end - first;
    pieces_.change(place, true, list, false);
    pieces_.merge(place);
  }
};
}  // namespace

std::unique_ptr<Policy> make_expandable_policy(std::uint64_t capacity) {
  return std::make_unique<ExpandablePolicy>(capacity);
}
}  // namespace drey::cuda::replay
