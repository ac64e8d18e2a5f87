// rmm_policy.cpp: a model of RMM's pool: blocks of the device coalesced within what the driver gave in
// one piece, best fit, free blocks kept by stream, an event for every free.
//
// Another stream's free blocks are taken before the pool grows, with a wait for that stream; if none is
// large enough, its whole list is taken over and merged. The pool grows by its own size, or less where
// the device has less, and gives nothing back.
// Source: the order of these steps as RMM documents it.
// SPDX-License-Identifier: MIT
#include "replay/pieces.hpp"
#include "replay/policies.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kRound = 256;

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kRound - 1) / kRound * kRound;
}

class RmmPolicy : public Policy {
 public:
  explicit RmmPolicy(std::uint64_t capacity) : device_(capacity) {}

  bool allocate(std::uint32_t block, std::uint64_t wanted, std::uint32_t stream) override {
    const std::uint64_t bytes = round_up(wanted);
    Pieces::Place place = pieces_.best_fit(stream, bytes);
    if (place == pieces_.end()) place = take_from_others(bytes, stream);
    if (place == pieces_.end()) place = merge_others(bytes, stream);
    if (place == pieces_.end()) place = grow(bytes, stream);
    if (place == pieces_.end()) return false;
    pieces_.cut(place, bytes);
    pieces_.change(place, false, stream, true);
    blocks_[block] = {place->first, stream};
    return true;
  }

  void deallocate(std::uint32_t block, std::uint32_t stream) override {
    device_.record_event();
    const Pieces::Place place = pieces_.find(blocks_.at(block).address);
    pieces_.change(place, true, stream, true);
    pieces_.merge(place);
    blocks_.erase(block);
  }
  void deallocate(std::uint32_t block) override { deallocate(block, blocks_.at(block).stream); }
  /// It has no such call: its users make the freeing stream wait.
  void record_stream(std::uint32_t /*block*/, std::uint32_t /*stream*/) override {
    device_.record_event();
    device_.wait();
  }
  void record_use(std::uint32_t block, std::uint32_t stream) override {
    record_stream(block, stream);
  }
  void wait(std::uint32_t /*waiter*/, std::uint32_t /*waited*/) override {}
  void synchronize(std::uint32_t /*stream*/) override {}
  [[nodiscard]] PolicyCounts counts() const override { return device_.counts; }

 private:
  struct Block {
    std::uint64_t address = 0;
    std::uint32_t stream = 0;
  };

  // What does not fit into the block goes to the stream that took it.
  Pieces::Place take_from_others(std::uint64_t bytes, std::uint32_t stream) {
    for (const auto& [list, sizes] : pieces_.lists()) {
      if (list == stream || sizes.empty()) continue;
      const Pieces::Place place = pieces_.best_fit(list, bytes);
      if (place == pieces_.end()) continue;
      device_.wait();
      pieces_.change(place, true, stream, true);
      return place;
    }
    return pieces_.end();
  }

  Pieces::Place merge_others(std::uint64_t bytes, std::uint32_t stream) {
    std::vector<std::uint64_t> others;
    for (const auto& [list, sizes] : pieces_.lists()) {
      if (list != stream && !sizes.empty()) others.push_back(list);
    }
    for (const std::uint64_t list : others) {
      device_.wait();
      const Pieces::Sizes taken = pieces_.lists()[list];
      for (const auto& [size, address] : taken) pieces_.merge(moved(pieces_.find(address), stream));
      const Pieces::Place place = pieces_.best_fit(stream, bytes);
      if (place != pieces_.end()) return place;
    }
    return pieces_.end();
  }

  Pieces::Place moved(Pieces::Place place, std::uint32_t stream) {
    pieces_.change(place, true, stream, true);
    return place;
  }

  Pieces::Place grow(std::uint64_t bytes, std::uint32_t stream) {
    std::uint64_t wanted = std::max(bytes, round_up(device_.counts.reserved_bytes));
    while (!device_.take(wanted, 1)) {
      if (wanted == bytes) return pieces_.end();
      wanted = std::max(bytes, round_up(wanted / 2));
    }
    const std::uint64_t address = next_address_;
    next_address_ += wanted + kRound;
    return pieces_.add(address, {wanted, address, stream, true, true});
  }

  CountedDevice device_;
  Pieces pieces_;
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::uint64_t next_address_ = kRound;
};
}  // namespace

std::unique_ptr<Policy> make_rmm_policy(std::uint64_t capacity) {
  return std::make_unique<RmmPolicy>(capacity);
}
}  // namespace drey::cuda::replay
