// pages_policy.cpp: the bound that remapping gives: one range of addresses for all streams and sizes, and
// pages of 2 MiB that go wherever a block needs them.
//
// A block is placed where it needs the fewest new pages, in the smallest such hole. New pages come
// from the driver as long as there are any, then from under holes. So the least capacity is the pages
// that live blocks touch at their worst moment. An event is recorded only when another stream takes a
// hole that no event covers yet.
// Invariant: a page with a live byte on it is mapped; live_[page] counts the blocks on it.
// SPDX-License-Identifier: MIT
#include "replay/pieces.hpp"
#include "replay/policies.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kRound = 512;
constexpr std::uint64_t kAddresses = std::uint64_t{1} << 49;
constexpr std::uint64_t kCallsToMap = 3;
constexpr std::uint64_t kCallsToMove = 3;  // unmap, map, set access

struct Page {
  std::uint32_t live = 0;
  bool is_mapped = false;
};

class PagesPolicy : public Policy {
 public:
  explicit PagesPolicy(std::uint64_t capacity) : device_(capacity / kPage * kPage) {
    pieces_.add(0, {kAddresses, 0, 0, true, true});
  }

  bool allocate(std::uint32_t block, std::uint64_t wanted, std::uint32_t stream) override {
    const std::uint64_t bytes = (wanted + kRound - 1) / kRound * kRound;
    const Pieces::Place place = find_place(bytes);
    if (!make_mapped(place->first, bytes)) return false;
    take_over(place->first, stream);
    pieces_.cut(place, bytes);
    pieces_.change(place, false, 0, true);
    for (std::uint64_t page = place->first / kPage; page <= last_page(place); ++page)
      ++pages_[page].live;
    blocks_[block] = {place->first, stream};
    return true;
  }

  void deallocate(std::uint32_t block, std::uint32_t stream) override {
    const Pieces::Place place = pieces_.find(blocks_.at(block).address);
    for (std::uint64_t page = place->first / kPage; page <= last_page(place); ++page)
      --pages_[page].live;
    pieces_.change(place, true, 0, true);
    freed_[pieces_.merge(place)->first] = {stream, ++epochs_[stream].open};
    blocks_.erase(block);
  }
  void deallocate(std::uint32_t block) override { deallocate(block, blocks_.at(block).stream); }
  void record_stream(std::uint32_t /*block*/, std::uint32_t stream) override {
    ++epochs_[stream].open;
  }
  void record_use(std::uint32_t /*block*/, std::uint32_t stream) override {
    device_.record_event();
    epochs_[stream].recorded = ++epochs_[stream].open;
  }
  void wait(std::uint32_t /*waiter*/, std::uint32_t /*waited*/) override {}
  void synchronize(std::uint32_t /*stream*/) override {}
  [[nodiscard]] PolicyCounts counts() const override { return device_.counts; }

 private:
  struct Block {
    std::uint64_t address = 0;
    std::uint32_t stream = 0;
  };
  struct Stamp {
    std::uint32_t stream = 0;
    std::uint64_t epoch = 0;
  };
  struct Epochs {
    std::uint64_t open = 0;
    std::uint64_t recorded = 0;
  };

  static std::uint64_t last_page(Pieces::Place place) {
    return (place->first + place->second.bytes - 1) / kPage;
  }

  std::uint64_t pages_needed(std::uint64_t address, std::uint64_t bytes) {
    std::uint64_t needed = 0;
    const std::uint64_t last = (address + bytes - 1) / kPage;
    if (pages_.size() <= last) pages_.resize(last + 1);
    for (std::uint64_t page = address / kPage; page <= last; ++page)
      needed += pages_[page].is_mapped ? 0 : 1;
    return needed;
  }

  // The smallest hole with the fewest pages to map. The last, endless one always fits.
  Pieces::Place find_place(std::uint64_t bytes) {
    const Pieces::Sizes& sizes = pieces_.lists()[0];
    std::uint64_t best = 0;
    std::uint64_t fewest = UINT64_MAX;
    for (auto hole = sizes.lower_bound({bytes, 0}); hole != sizes.end() && fewest != 0; ++hole) {
      const std::uint64_t needed = pages_needed(hole->second, bytes);
      if (needed >= fewest) continue;
      fewest = needed;
      best = hole->second;
    }
    return pieces_.find(best);
  }

  bool make_mapped(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t needed = pages_needed(address, bytes);
    const std::uint64_t fresh = std::min(needed, device_.free_bytes() / kPage);
    const std::uint64_t first = address / kPage;
    const std::uint64_t last = (address + bytes - 1) / kPage;
    if (!steal(needed - fresh, first, last)) return false;
    if (!device_.take(fresh * kPage, fresh * kCallsToMap)) return false;
    for (std::uint64_t page = first; page <= last; ++page) pages_[page].is_mapped = true;
    return true;
  }

  // Takes pages from under holes, from the far end on: what lies low is wanted again first.
  bool steal(std::uint64_t count, std::uint64_t first, std::uint64_t last) {
    if (count == 0) return true;
    std::vector<std::uint64_t> idle;
    for (std::uint64_t page = pages_.size(); page-- > 0 && idle.size() < count;) {
      const bool is_wanted = page >= first && page <= last;
      if (pages_[page].is_mapped && pages_[page].live == 0 && !is_wanted) idle.push_back(page);
    }
    if (idle.size() < count) return false;
    for (const std::uint64_t page : idle) pages_[page].is_mapped = false;
    device_.counts.page_moves += count;
    device_.counts.moved_bytes += count * kPage;
    device_.counts.driver_calls += count * kCallsToMove;
    return true;
  }

  void take_over(std::uint64_t address, std::uint32_t stream) {
    const auto found = freed_.find(address);
    if (found == freed_.end()) return;
    const Stamp stamp = found->second;
    freed_.erase(found);
    Epochs& epochs = epochs_[stamp.stream];
    if (stamp.stream == stream || stamp.epoch <= epochs.recorded) return;
    device_.record_event();
    epochs.recorded = epochs.open;
  }

  CountedDevice device_;
  Pieces pieces_;
  std::vector<Page> pages_;
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::unordered_map<std::uint64_t, Stamp> freed_;
  std::unordered_map<std::uint32_t, Epochs> epochs_;
};
}  // namespace

std::unique_ptr<Policy> make_pages_policy(std::uint64_t capacity) {
  return std::make_unique<PagesPolicy>(capacity);
}
}  // namespace drey::cuda::replay
