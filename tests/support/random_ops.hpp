// random_ops.hpp: seeded sequences of allocator calls, judged by a shadow map.
// Invariants after every operation: live blocks do not overlap; each keeps the content that was
// written into all of its usable bytes; each is aligned as asked; calloc's bytes were zero.
// The shadow map lives outside the heap under test where that heap is not the process's malloc.
// Read next: ../stress/random_ops_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/heap_calls.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace drey::test {
/// How a sequence behaves. Sizes are drawn log-uniformly from [1, size_max].
struct RandomOpsPlan {
  std::size_t size_max = 4096;
  std::size_t live_max = 500;  ///< blocks alive at once, at most
  std::size_t alignment_max = 4096;
  unsigned percent_realloc = 10;
  unsigned percent_zeroed = 10;
  unsigned percent_aligned = 10;  ///< the rest is malloc
};

/// One thread's sequence. Deterministic: the same seed and plan give the same calls.
class RandomOps {
 public:
  RandomOps(std::uint64_t seed, const RandomOpsPlan& plan) : random_(seed), plan_(plan) {}
  RandomOps(const RandomOps&) = delete;
  RandomOps& operator=(const RandomOps&) = delete;
  ~RandomOps() {
    for (const Live& live : live_) heap::give_back(live.block);
  }

  /// One random call. Returns: what is wrong, or an empty text.
  std::string step() {
    ++step_count_;
    const std::size_t choice = random_.below(100);
    if (live_.size() >= plan_.live_max || (!live_.empty() && choice < 45)) {
      const std::size_t index = random_.below(live_.size());
      if (choice % 100 < plan_.percent_realloc) return resize(index);
      return free_one(index);
    }
    return allocate();
  }

  /// Checks and frees everything.
  std::string finish() {
    while (!live_.empty()) {
      std::string wrong = free_one(live_.size() - 1);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  struct Live {
    unsigned char* block;
    std::size_t usable;
    std::uint64_t tag;
  };

  [[nodiscard]] std::string complain(const char* what, std::size_t size) const {
    return std::string(what) + " at step " + std::to_string(step_count_) + ", size " +
           std::to_string(size);
  }

  std::size_t draw_size() {
    unsigned bits = 1;
    while ((plan_.size_max >> bits) != 0) ++bits;
    const std::size_t limit = std::size_t{1} << random_.below(bits);
    const std::size_t size = limit + random_.below(limit);
    return size > plan_.size_max ? plan_.size_max : size;
  }

  std::string allocate() {
    const std::size_t size = draw_size();
    const std::size_t kind = random_.below(100);
    std::size_t alignment = 16;
    void* block = nullptr;
    if (kind < plan_.percent_zeroed) {
      block = heap::take_zeroed(size);
      if (block != nullptr && !all_zero(block, size)) return complain("calloc not zero", size);
    } else if (kind < plan_.percent_zeroed + plan_.percent_aligned) {
      while (alignment < plan_.alignment_max && random_.below(3) != 0) alignment *= 2;
      block = heap::take_aligned(alignment, size);
    } else {
      block = heap::take(size);
    }
    if (block == nullptr) return complain("null", size);
    if (!aligned_to(block, alignment)) return complain("misaligned", size);
    return adopt(block, size);
  }

  /// Enters a block into the shadow map and writes all of it.
  std::string adopt(void* block, std::size_t size) {
    const std::size_t usable = heap::usable_bytes(block);
    if (usable < size) return complain("usable size too small", size);
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const auto above = places_.lower_bound(address);
    if (above != places_.end() && above->first < address + usable) {
      return complain("overlaps the block above", size);
    }
    if (above != places_.begin()) {
      const auto below = std::prev(above);
      if (below->first + below->second > address) return complain("overlaps the block below", size);
    }
    places_.emplace(address, usable);
    live_.push_back(Live{static_cast<unsigned char*>(block), usable, random_.next()});
    fill(live_.back());
    return {};
  }

  static void fill(const Live& live) {
    if (live.usable <= kWholeBytesMax) fill_pattern(live.block, live.usable, live.tag);
    if (live.usable > kWholeBytesMax) fill_sparse(live.block, live.usable, live.tag);
  }

  static bool intact(const Live& live) {
    if (live.usable <= kWholeBytesMax) return check_pattern(live.block, live.usable, live.tag);
    return check_sparse(live.block, live.usable, live.tag);
  }

  /// Takes a block out of the shadow map.
  Live forget(std::size_t index) {
    const Live live = live_[index];
    live_[index] = live_.back();
    live_.pop_back();
    places_.erase(reinterpret_cast<std::uintptr_t>(live.block));
    return live;
  }

  std::string free_one(std::size_t index) {
    const Live live = forget(index);
    if (!intact(live)) return complain("content damaged before free", live.usable);
    if (heap::usable_bytes(live.block) != live.usable)
      return complain("usable size changed", live.usable);
    heap::give_back(live.block);
    return {};
  }

  std::string resize(std::size_t index) {
    const Live live = forget(index);
    if (!intact(live)) return complain("content damaged before realloc", live.usable);
    const std::size_t size = draw_size();
    auto* const moved = static_cast<unsigned char*>(heap::resize(live.block, size));
    if (moved == nullptr) return complain("realloc gave null", size);
    const std::size_t kept = size < live.usable ? size : live.usable;
    const bool whole = live.usable <= kWholeBytesMax;
    for (std::size_t i = 0; i < kept; i += whole ? 1 : 4096) {
      if (moved[i] != pattern_byte(i, live.tag)) return complain("realloc lost content", size);
    }
    return adopt(moved, size);
  }

  static constexpr std::size_t kWholeBytesMax = 16384;

  Random random_;
  RandomOpsPlan plan_;
  std::vector<Live> live_;
  std::map<std::uintptr_t, std::size_t> places_;
  std::size_t step_count_ = 0;
};
}  // namespace drey::test
