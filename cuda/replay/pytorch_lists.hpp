// pytorch_lists.hpp: what both of PyTorch's policies share: sizes, the two pools, lists by stream, and
// frees that wait for the streams that were told.
// Source: sizes and rules as PyTorch 2.11 documents and uses them.
// Read next: pytorch_policy.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/pieces.hpp"
#include "replay/policy.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace drey::cuda::replay {
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kPytorchRound = 512;
inline constexpr std::uint64_t kPytorchSmallMax = kMiB;
inline constexpr std::uint64_t kPytorchSmallBuffer = 2 * kMiB;
inline constexpr std::uint64_t kPytorchLargeBuffer = 20 * kMiB;

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}
/// Up to 1 MiB is small; each pool has a list a stream.
[[nodiscard]] constexpr std::uint64_t pytorch_list(std::uint64_t bytes, std::uint32_t stream) {
  return std::uint64_t{stream} * 2 + (bytes > kPytorchSmallMax ? 1 : 0);
}
[[nodiscard]] constexpr bool is_large_list(std::uint64_t list) {
  return list % 2 != 0;
}
/// Whether what is left of a piece becomes one of its own.
[[nodiscard]] constexpr bool is_worth_cutting(std::uint64_t list, std::uint64_t rest) {
  return is_large_list(list) ? rest > kPytorchSmallMax : rest >= kPytorchRound;
}

class PytorchLists : public Policy {
 public:
  explicit PytorchLists(std::uint64_t capacity) : device_(capacity) {}

  /// A free has no stream in PyTorch: who frees on another one has told it before.
  void deallocate(std::uint32_t block, std::uint32_t stream) override {
    if (blocks_.at(block).list / 2 != stream) record_stream(block, stream);
    deallocate(block);
  }
  void deallocate(std::uint32_t block) override {
    Block& freed = blocks_.at(block);
    if (freed.streams == 0) {
      free_piece(freed);
      blocks_.erase(block);
      return;
    }
    for (std::uint32_t event = 0; event < freed.streams; ++event) device_.record_event();
    pending_.push_back(block);
  }
  void record_stream(std::uint32_t block, std::uint32_t stream) override {
    Block& used = blocks_.at(block);
    if (used.list / 2 != stream) ++used.streams;
  }
  /// It has no other word for it.
  void record_use(std::uint32_t block, std::uint32_t stream) override {
    record_stream(block, stream);
  }
  void wait(std::uint32_t /*waiter*/, std::uint32_t /*waited*/) override {}
  void synchronize(std::uint32_t /*stream*/) override {}
  [[nodiscard]] PolicyCounts counts() const override { return device_.counts; }

 protected:
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t list = 0;
    std::uint32_t streams = 0;
  };

  /// Each allocation asks the events of pending frees first.
  void free_pending() {
    for (const std::uint32_t block : pending_) {
      device_.counts.driver_calls += blocks_.at(block).streams;
      free_piece(blocks_.at(block));
      blocks_.erase(block);
    }
    pending_.clear();
  }

  void free_piece(const Block& block) {
    const Pieces::Place place = pieces_.find(block.address);
    pieces_.change(place, true, block.list, true);
    pieces_.merge(place);
  }

  void hand_out(std::uint32_t block, Pieces::Place place, std::uint64_t bytes) {
    const std::uint64_t list = place->second.list;
    if (is_worth_cutting(list, place->second.bytes - bytes)) pieces_.cut(place, bytes);
    pieces_.change(place, false, list, true);
    blocks_[block] = {place->first, list, 0};
  }

  CountedDevice device_;
  Pieces pieces_;
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::vector<std::uint32_t> pending_;
};
}  // namespace drey::cuda::replay
