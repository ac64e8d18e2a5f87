// block_pool.cpp: chunks, the first use of a block, and what is said about misuse.
// Read next: include/drey/pools/block_pool.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/block_pool.hpp>

#include <drey/alloc.hpp>
#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>
#include <drey/pools/memory_marks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace drey {
namespace {
constexpr std::size_t kFirstChunkBytes = 16_KiB;
constexpr std::size_t kFirstCountMin = 8;
constexpr std::size_t kAlignmentMax = 1_GiB;

/// Blocks of the first chunk of a growing pool: a power of two.
[[nodiscard]] std::size_t first_count_of(std::size_t block_bytes, std::size_t capacity) noexcept {
  const std::size_t wanted = std::max(kFirstChunkBytes / block_bytes, kFirstCountMin);
  return std::size_t{1} << log2_floor(std::min(wanted, capacity));
}
}  // namespace

BlockPool::BlockPool(std::size_t block_bytes, std::size_t alignment, std::size_t capacity,
                     PoolGrowth growth, const char* noun) noexcept
    : is_watched_(memory_is_watched()), alignment_(alignment), noun_(noun) {
  block_bytes_ = 1;  // until there is something to divide by
  if (capacity == 0 || capacity > kCapacityMax || block_bytes == 0) return;
  if (!is_power_of_two(alignment) || alignment > kAlignmentMax) return;
  std::size_t total_bytes = 0;
  if (block_bytes > SIZE_MAX - alignment) return;
  const std::size_t stride = align_up(block_bytes, alignment);
  if (__builtin_mul_overflow(stride, capacity, &total_bytes)) return;
  block_bytes_ = stride;
  const std::size_t first_count =
      growth == PoolGrowth::kFixed ? capacity : first_count_of(stride, capacity);
  // Rounded up: all indices of a fixed pool are then in chunk 0.
  first_count_log2_ =
      static_cast<std::uint8_t>(log2_floor(first_count) + (is_power_of_two(first_count) ? 0 : 1));
  if (growth == PoolGrowth::kFixed && !grow(capacity)) return;
  capacity_ = capacity;
}

BlockPool::~BlockPool() {
  if (taken() != 0) [[unlikely]] {
    Text<200> text;
    text.add(noun_).add(": destroyed with ").add(std::uint64_t{taken()}).add(" out");
    fatal(text.c_str());
  }
  release_memory();
}

bool BlockPool::grow(std::size_t count) noexcept {
  const std::size_t bytes = count * block_bytes_;
  void* const blocks = drey::allocate(bytes, std::max(alignment_, kMinAlignmentBytes));
  if (blocks == nullptr) return false;
  void* const links = reallocate(links_, (slot_count_ + count) * sizeof(*links_));
  if (links == nullptr) {
    deallocate(blocks);
    return false;
  }
  links_ = static_cast<std::uint32_t*>(links);
  const std::uintptr_t begin = address_of(blocks);
  chunks_[chunk_count_++] = {begin, bytes, begin - slot_count_ * block_bytes_, slot_count_};
  slot_count_ += static_cast<std::uint32_t>(count);
  if (is_watched_) mark_unusable(blocks, bytes);
  return true;
}

void BlockPool::release_memory() noexcept {
  for (std::size_t k = 0; k < chunk_count_; ++k) {
    auto* const blocks = reinterpret_cast<void*>(chunks_[k].begin);
    if (is_watched_) mark_usable(blocks, chunks_[k].bytes);
    deallocate(blocks);
  }
  deallocate(links_);
}

void* BlockPool::carve() noexcept {
  if (carved_ == slot_count_) {
    const std::size_t doubled = std::size_t{1} << (first_count_log2_ + chunk_count_);
    const std::size_t count = std::min(doubled, capacity_ - slot_count_);
    if (count == 0 || !grow(count)) {
      ++exhausted_count_;
      return nullptr;
    }
  }
  const std::uint32_t index = carved_++;
  links_[index] = kTaken;
  void* const block = block_at(index, block_bytes_);
  if (is_watched_) watch_taken(block);
  return block;
}

void BlockPool::watch_taken(const void* block) noexcept {
  mark_usable(block, block_bytes_);
}

void BlockPool::watch_given_back(const void* block) noexcept {
  mark_unusable(block, block_bytes_);
}

void BlockPool::report(std::uint32_t index, const void* block) const noexcept {
  Text<200> text;
  text.add(noun_).add(": ").add(block);
  if (index == kNone) {
    text.add(" given back, which is none of this pool");
  } else {
    text.add(index < carved_ ? " given back twice" : " given back, but was never taken");
  }
  fatal(text.c_str());
}

BlockPoolStatistics BlockPool::statistics() const noexcept {
  std::size_t bytes = slot_count_ * sizeof(*links_);
  for (std::size_t k = 0; k < chunk_count_; ++k) bytes += chunks_[k].bytes;
  return {capacity_, taken(), carved_, bytes, exhausted_count_};
}

bool BlockPool::invariants_hold() const noexcept {
  if (carved_ > slot_count_ || slot_count_ > capacity_ || free_count_ > carved_) return false;
  if (free_ != kEnd && free_block_ != block_at(free_, block_bytes_)) return false;
  std::size_t taken_count = 0;
  for (std::uint32_t index = 0; index < carved_; ++index) {
    if (is_taken(index)) ++taken_count;
    if (index_of(block_at(index, block_bytes_), block_bytes_) != index) return false;
  }
  std::size_t free_count = 0;
  for (std::uint32_t index = free_; index != kEnd; index = links_[index]) {
    if (index >= carved_ || is_taken(index) || ++free_count > free_count_) return false;
  }
  return free_count == free_count_ && taken_count + free_count == carved_;
}
}  // namespace drey
