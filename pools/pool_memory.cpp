// pool_memory.cpp: see pool_memory.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/pool_memory.hpp>

#include "place_checks.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <algorithm>

#include <sys/mman.h>

namespace drey {
namespace {
constexpr std::size_t kPageBytes = 4_KiB;
constexpr std::size_t kHugePageBytes = 2_MiB;
constexpr std::size_t kGuardBytes = 64;
constexpr std::size_t kOpenedAtLeast = 64;  // places in the first step of a pool that grows from 0

/// x with x * odd == 1 modulo 2^64: Newton's iteration, five steps from three right bits.
constexpr std::uint64_t inverse_of(std::uint64_t odd) noexcept {
  std::uint64_t inverse = odd;
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}
static_assert(inverse_of(15) * 15 == 1 && inverse_of(241) * 241 == 1);

/// Where the arrays behind the vectors begin, all from the start of the mapping.
struct Layout {
  std::size_t states;
  std::size_t rounds;
  std::size_t holders;
  std::size_t free_words;
  std::size_t free_summary;
  std::size_t end;
};

constexpr std::size_t kWordBits = 64;

/// Fails: false if it does not fit into the address space.
bool lay_out(std::size_t capacity, std::size_t stride_bytes, Layout& layout) noexcept {
  std::size_t vectors_bytes = 0;
  if (__builtin_mul_overflow(capacity, stride_bytes, &vectors_bytes)) return false;
  if (vectors_bytes > (std::size_t{1} << 46)) return false;  // far more than a process can map
  layout.states = align_up(vectors_bytes, kPageBytes);
  layout.rounds = layout.states + align_up(capacity * sizeof(std::uint16_t), kPageBytes);
  layout.holders = layout.rounds + align_up(capacity * sizeof(std::uint16_t), kPageBytes);
  layout.free_words = layout.holders + align_up(capacity * sizeof(std::uint32_t), kPageBytes);
  const std::size_t words = divide_up(capacity, kWordBits);
  layout.free_summary = layout.free_words + align_up(words * sizeof(std::uint64_t), kPageBytes);
  layout.end = layout.free_summary +
               align_up(divide_up(words, kWordBits) * sizeof(std::uint64_t), kPageBytes);
  return true;
}

void* map_pages(std::size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// On a border of huge pages: what is mapped beyond is given back at once.
void* map_huge_pages(std::size_t bytes) noexcept {
  auto* const memory = static_cast<char*>(map_pages(bytes + kHugePageBytes));
  if (memory == nullptr) return nullptr;
  const std::size_t before = align_up(address_of(memory), kHugePageBytes) - address_of(memory);
  if (before != 0) munmap(memory, before);
  munmap(memory + before + bytes, kHugePageBytes - before);
  // Only advice: without huge pages the pool works as well.
  static_cast<void>(madvise(memory + before, bytes, MADV_HUGEPAGE));
  return memory + before;
}
}  // namespace

PoolMemory::PoolMemory(const PlaceShape& shape, const VectorPoolOptions& options) noexcept
    : is_checked_(wants_checks(options.checks)), shape_(shape), backing_(options.backing) {
  DREY_ASSERT(is_power_of_two(shape.alignment_bytes));
  DREY_ASSERT(shape.vector_bytes % shape.alignment_bytes == 0);
  stride_bytes_ = shape.vector_bytes + (is_checked_ ? kGuardBytes : 0);
  stride_shift_ = std::countr_zero(stride_bytes_);
  stride_inverse_ = inverse_of(stride_bytes_ >> stride_shift_);
  const std::size_t capacity = std::max(options.capacity, options.capacity_max);
  if (capacity == 0 || capacity > kPlacesMax || !map(capacity, options.pages)) return;
  capacity_ = capacity;
  if (!open_to(options.capacity_max == 0 ? capacity : options.capacity)) unmap();
}

PoolMemory::~PoolMemory() {
  unmap();
}

bool PoolMemory::map(std::size_t capacity, VectorPages pages) noexcept {
  Layout layout{};
  if (!lay_out(capacity, stride_bytes_, layout)) return false;
  void* const memory =
      pages == VectorPages::kHuge ? map_huge_pages(layout.end) : map_pages(layout.end);
  if (memory == nullptr) return false;
  begin_ = static_cast<char*>(memory);
  bytes_ = layout.end;
  // Zeroed pages are arrays of atomics with value 0.
  states_ = reinterpret_cast<std::atomic<std::uint16_t>*>(begin_ + layout.states);
  rounds_ = reinterpret_cast<std::atomic<std::uint16_t>*>(begin_ + layout.rounds);
  holders_ = reinterpret_cast<std::atomic<std::uint32_t>*>(begin_ + layout.holders);
  free_words_ = reinterpret_cast<std::uint64_t*>(begin_ + layout.free_words);
  free_summary_ = reinterpret_cast<std::uint64_t*>(begin_ + layout.free_summary);
  return true;
}

bool PoolMemory::open_more() noexcept {
  if (opened_ == capacity_) return false;
  return open_to(std::min(capacity_, std::max(2 * opened_, kOpenedAtLeast)));
}

bool PoolMemory::open_to(std::size_t count) noexcept {
  const std::size_t begin = opened_ * stride_bytes_;
  const std::size_t bytes = (count - opened_) * stride_bytes_;
  if (bytes != 0 && backing_.open != nullptr &&
      !backing_.open(begin_ + begin, bytes, backing_.context)) {
    return false;
  }
  opened_ = count;
  return true;
}

void PoolMemory::unmap() noexcept {
  if (begin_ == nullptr) return;
  if (opened_ != 0 && backing_.close != nullptr) {
    backing_.close(begin_, opened_ * stride_bytes_, backing_.context);
  }
  munmap(begin_, bytes_);
  begin_ = nullptr;
  capacity_ = 0;
  opened_ = 0;
  bytes_ = 0;
}
}  // namespace drey
