// block_pool.hpp: equal blocks of any size for one thread: what object pools and pool resources
// stand on.
//
// What is free is not written in the blocks but in an array of links beside them, so that a write to
// a block given back cannot damage the pool, and a second give_back is found for one comparison.
// Chunks double: chunk k has first_count << k blocks, so an index leads to its block by arithmetic,
// and a block to its index through at most 32 ranges, the largest first.
// Invariants: (1) carved = taken + free; (2) links_[i] is kTaken exactly while block i is taken;
// (3) blocks from carved_ on were never taken, so carved_ is the most taken at once so far;
// (4) unless free_ is kEnd, free_block_ is its block, so that a take waits for no arithmetic.
// Read next: object_pool.hpp, pool_resource.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <cstddef>
#include <cstdint>

namespace drey {
/// Where a pool's memory comes from, and when.
enum class PoolGrowth : std::uint8_t {
  kFixed,    ///< address space for all of it at once
  kGrowing,  ///< chunk by chunk, each twice the last, up to the capacity
};

struct BlockPoolStatistics {
  std::size_t capacity;           ///< blocks
  std::size_t taken;              ///< blocks out now
  std::size_t taken_peak;         ///< most out at once so far
  std::size_t reserved_bytes;     ///< address space of blocks and links
  std::uint64_t exhausted_count;  ///< takes that gave null
};

/// Hands out blocks, the last given back first. Threads: one at a time.
class BlockPool {
 public:
  static constexpr std::size_t kCapacityMax = (std::size_t{1} << 31) - 1;
  static constexpr std::uint32_t kNone = UINT32_MAX;  ///< no index

  /// Units: bytes a block, rounded up to a multiple of `alignment`; blocks at most.
  /// `noun` begins what is said about misuse; it must outlive the pool.
  /// Fails: capacity() is 0 if asked for 0 blocks, 0 bytes, more than kCapacityMax, an alignment
  /// that is no power of two, a product that overflows, or, when fixed, more than there is memory.
  BlockPool(std::size_t block_bytes, std::size_t alignment, std::size_t capacity,
            PoolGrowth growth = PoolGrowth::kFixed, const char* noun = "block pool") noexcept;
  /// Requires: every block is back; aborts with their number if one is out.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Takes a block. Fails: null if all are taken, or, when growing, memory ran out; counted.
  [[nodiscard]] void* take() noexcept { return take_of(block_bytes_); }

  /// Gives a block back; null does nothing.
  /// Fails: a pointer that is no block of this pool, a block never taken and one given back twice
  /// are named on standard error, and the process aborts.
  void give_back(void* block) noexcept {
    if (block != nullptr) release(checked_index(block, block_bytes_), block);
  }

  /// True for the first byte of a block of this pool, taken or not.
  [[nodiscard]] bool owns(const void* pointer) const noexcept {
    return index_of(pointer, block_bytes_) != kNone;
  }

  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }  ///< blocks
  [[nodiscard]] std::size_t taken() const noexcept { return carved_ - free_count_; }
  [[nodiscard]] BlockPoolStatistics statistics() const noexcept;
  /// Cost: linear in the blocks ever taken.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  template <typename T>
  friend class ObjectPool;

  static constexpr std::uint32_t kEnd = UINT32_MAX - 1;
  static constexpr std::uint32_t kTaken = UINT32_MAX;
  static constexpr std::size_t kChunksMax = 32;

  struct Chunk {
    std::uintptr_t begin;
    std::size_t bytes;
    std::uintptr_t biased_begin;  // begin - first index * block bytes, modulo 2^64
    std::uint32_t first_index;
  };

  // The size of a block is a parameter so that ObjectPool can give it as a constant.
  [[nodiscard, gnu::always_inline]] void* take_of(std::size_t block_bytes) noexcept {
    const std::uint32_t index = free_;
    if (index == kEnd) [[unlikely]]
      return carve();
    void* const block = free_block_;
    if (block == nullptr) __builtin_unreachable();  // callers need no test of their own
    free_ = links_[index];
    free_block_ = block_at(free_, block_bytes);
    links_[index] = kTaken;
    --free_count_;
    if (is_watched_) [[unlikely]]
      watch_taken(block);
    return block;
  }

  [[nodiscard, gnu::always_inline]] std::uint32_t checked_index(const void* block,
                                                                std::size_t block_bytes) noexcept {
    const std::uint32_t index = index_of(block, block_bytes);
    if (index >= carved_ || links_[index] != kTaken) [[unlikely]]
      report(index, block);
    return index;
  }

  [[gnu::always_inline]] void release(std::uint32_t index, void* block) noexcept {
    links_[index] = free_;
    free_ = index;
    free_block_ = block;
    ++free_count_;
    if (is_watched_) [[unlikely]]
      watch_given_back(block);
  }

  /// Of kEnd: some address, which nobody uses.
  [[nodiscard]] void* block_at(std::uint32_t index, std::size_t block_bytes) const noexcept {
    const Chunk& chunk = chunks_[log2_floor((std::size_t{index} >> first_count_log2_) + 1)];
    return reinterpret_cast<void*>(chunk.biased_begin + index * block_bytes);
  }

  [[nodiscard]] std::uint32_t index_of(const void* pointer,
                                       std::size_t block_bytes) const noexcept {
    for (std::size_t k = chunk_count_; k-- > 0;) {
      const std::size_t offset = address_of(pointer) - chunks_[k].begin;
      if (offset >= chunks_[k].bytes) continue;
      if (offset % block_bytes != 0) return kNone;
      return chunks_[k].first_index + static_cast<std::uint32_t>(offset / block_bytes);
    }
    return kNone;
  }

  [[nodiscard]] bool is_taken(std::uint32_t index) const noexcept {
    return links_[index] == kTaken;
  }

  [[nodiscard, gnu::noinline]] void* carve() noexcept;
  [[nodiscard]] bool grow(std::size_t count) noexcept;
  void release_memory() noexcept;
  [[gnu::noinline]] void watch_taken(const void* block) noexcept;
  [[gnu::noinline]] void watch_given_back(const void* block) noexcept;
  [[noreturn, gnu::noinline, gnu::cold]] void report(std::uint32_t index,
                                                     const void* block) const noexcept;

  std::uint32_t free_ = kEnd;  // the first free block's index
  std::uint32_t free_count_ = 0;
  void* free_block_ = nullptr;  // its address: known before it is asked for
  std::uint32_t* links_ = nullptr;
  std::uint32_t carved_ = 0;
  std::uint32_t slot_count_ = 0;  // blocks that there is memory for
  std::uint32_t chunk_count_ = 0;
  std::uint8_t first_count_log2_ = 0;
  bool is_watched_;
  std::size_t block_bytes_ = 0;
  std::size_t alignment_;
  std::size_t capacity_ = 0;
  std::uint64_t exhausted_count_ = 0;
  const char* noun_;
  Chunk chunks_[kChunksMax] = {};
};
}  // namespace drey
