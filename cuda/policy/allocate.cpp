// allocate.cpp: the part of allocator_state.hpp that allocates when the thread's magazine could not.
// Read next: ladder.cpp.
// SPDX-License-Identifier: MIT
#include "magazines/cache_registry.hpp"
#include "policy/allocator_state.hpp"

#include <drey/base/bits.hpp>

#include <algorithm>

namespace drey::cuda {
namespace {
// Extra blocks for the magazine, taken with one: so many bytes, so many blocks at most.
constexpr std::uint64_t kRefillBytesMax = std::uint64_t{128} << 10;
constexpr std::uint32_t kRefillMax = 16;

Status check_request(std::size_t bytes, std::size_t alignment, std::uint64_t arena_bytes) noexcept {
  if (!is_power_of_two(alignment) || alignment > arena_bytes) return Status::kInvalidAlignment;
  return bytes > arena_bytes ? Status::kInvalidSize : Status::kOk;
}

Request request_for(std::size_t bytes, std::size_t alignment, std::uint8_t* size_class) noexcept {
  Request request;
  request.granules = static_cast<std::uint32_t>(granules_for(bytes));
  if (alignment > kGranuleBytes) {
    request.alignment_granules = alignment / kGranuleBytes;
  } else if (request.granules <= kClassGranulesMax) {
    *size_class = kClassOfGranules[request.granules];
    request.granules = granules_of_class(*size_class);
  }
  return request;
}
}  // namespace

Allocation AllocatorState::allocate(std::size_t bytes, std::size_t alignment, Stream stream,
                                    OomReport* report, PoolId asked) noexcept {
  ThreadCache* const cache = is_forked_child_ ? nullptr : cache_registry::attach(*this);
  const MutexHolder holder(lock);
  Climb climb;
  climb.outcome = check_usable();
  if (!climb.is_over() && is_asleep_) climb.outcome = {Status::kAsleep};
  if (climb.is_over() || bytes == 0) return {nullptr, climb.outcome};
  const Status checked = check_request(bytes, alignment, arena_bytes);
  if (checked != Status::kOk) return {nullptr, misused(checked)};

  DriverScope scope(*driver_, context_, captures.count() != 0);
  climb.request = request_for(bytes, alignment, &climb.size_class);
  climb.bytes = bytes;
  climb.handle = stream;
  climb.cache = cache;
  climb.outcome = find_stream(stream, cache, scope, &climb.request.stream);
  if (!climb.is_over()) climb.outcome = choose_pool(climb, scope, asked);
  if (climb.is_over()) return {nullptr, climb.outcome};
  const BlockIndex index =
      climb.request.pool != 0 ? climb_in_pool(climb, scope) : this->climb(climb, scope);
  open_cache(cache);
  note_sizes();
  if (climb.is_over()) {
    if (climb.outcome.status == Status::kOutOfMemory) {
      ++kept_.num_ooms;
      fill_report(climb, report);
      tell({EventKind::kOutOfMemory, LadderStep::kPools, config.device, nullptr, 0, bytes, stream});
    }
    return {nullptr, climb.outcome};
  }
  void* const pointer = hand_out(index, climb);
  refill(climb);
  close_due_epochs(scope);
  return {pointer, {}};
}

void* AllocatorState::hand_out(BlockIndex index, const Climb& climb) noexcept {
  Block& block = heap.blocks()[index];
  const std::uint64_t size = block.granules * kGranuleBytes;
  block.size_class = climb.size_class;
  block.stamp = {climb.request.stream, 0};
  block.requested = climb.bytes;
  block.is_counted_small = climb.is_pooled_small;
  const bool is_small = climb.size_class != kNoClass || climb.is_pooled_small;
  CacheCounters& counts = !is_small                ? large_counts_
                          : climb.cache != nullptr ? climb.cache->counters
                                                   : small_counts_;
  counts.allocations.add(1);
  counts.allocated_bytes.add(size);
  counts.requested_bytes.add(climb.bytes);
  ++kept_.served_by[static_cast<std::size_t>(climb.step)];
  ++kept_.active.allocated;
  kept_.active_bytes.allocated += size;
  BlockTable::set_state(block, BlockState::kLive);
  void* const pointer = pointer_to(block);
  tell({EventKind::kAllocate, climb.step, config.device, pointer, size, climb.bytes, climb.handle});
  return pointer;
}

// More of the class into the magazine, of what the stream can have without a question.
void AllocatorState::refill(const Climb& climb) noexcept {
  if (climb.cache == nullptr || climb.size_class == kNoClass || climb.was_retried) return;
  Magazine* const magazine = climb.cache->find(climb.request.stream);
  if (magazine == nullptr || config.magazine_bytes_max == 0) return;
  const std::uint64_t bytes = climb.request.granules * kGranuleBytes;
  Magazine::Slot& slot = magazine->slots[climb.size_class];
  CacheCounters& counts = climb.cache->counters;
  std::uint64_t left = std::min<std::uint64_t>(kRefillBytesMax / bytes, kRefillMax);
  for (; left > 1 && slot.count < slot.count_max / 2; --left) {
    if (counts.magazine_bytes.value() + bytes > climb.cache->bytes_max) return;
    const BlockIndex index = heap.take(climb.request, Reach::kOwn, kScanMax);
    if (index == kNoBlock) return;
    Block& block = heap.blocks()[index];
    block.size_class = climb.size_class;
    block.stamp = {climb.request.stream, 0};
    BlockTable::set_state(block, BlockState::kMagazine);
    block.next = slot.head;
    slot.head = index;
    ++slot.count;
    counts.magazine_bytes.add(bytes);
    ++kept_.active.allocated;
    kept_.active_bytes.allocated += bytes;
  }
}
}  // namespace drey::cuda
