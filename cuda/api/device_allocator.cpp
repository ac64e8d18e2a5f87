// device_allocator.cpp: the hit path, where a thread's own magazine serves; all else is AllocatorState's.
//
// A hit makes no call, takes no lock and no read-modify-write but one: the block's state on a free, by which
// of two threads that free one block only one does.
// Read next: magazines/thread_cache.hpp, policy/allocator_state.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/device_allocator.hpp>

#include "magazines/cache_registry.hpp"
#include "policy/allocator_state.hpp"

#include <drey/base/assert.hpp>

#include <new>

#include <sys/mman.h>

namespace drey::cuda {
static_assert(DeviceAllocator::kAllocatorsMax == kAllocatorsMax);
static_assert(DeviceAllocator::kGranuleBytes == kGranuleBytes);
static_assert(DeviceAllocator::kSmallBytesMax == kClassGranulesMax * kGranuleBytes);

namespace {
constexpr Status kClosedStatus = Status::kClosed;

// Null if the magazine has none, or is not open.
void* hit_allocate(AllocatorState& state, std::size_t bytes, Stream stream) noexcept {
  ThreadCache* const cache = this_thread_caches.of[state.id];
  if (cache == nullptr || !cache->enter(state.turn)) [[unlikely]]
    return nullptr;
  Magazine* const magazine = cache->find(stream);
  const std::uint32_t size_class = kClassOfGranules[(bytes + kGranuleBytes - 1) / kGranuleBytes];
  if (magazine == nullptr || magazine->slots[size_class].head == kNoBlock) [[unlikely]] {
    cache->leave();
    return nullptr;
  }
  Magazine::Slot& slot = magazine->slots[size_class];
  Block& block = state.heap.blocks()[slot.head];
  slot.head = block.next;
  --slot.count;
  block.requested = bytes;
  const std::uint64_t size = block.granules * kGranuleBytes;
  CacheCounters& counts = cache->counters;
  counts.allocations.add(1);
  counts.allocated_bytes.add(size);
  counts.requested_bytes.add(bytes);
  counts.magazine_bytes.subtract(size);
  BlockTable::set_state(block, BlockState::kLive);
  void* const pointer = state.pointer_to(block);
  cache->leave();
  // Relaxed: only whether there is one; tell() looks again.
  if (state.observer.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    state.tell({EventKind::kAllocate, LadderStep::kMagazine, state.config.device, pointer, size,
                bytes, stream});
  return pointer;
}

// The magazine a free goes to: the named stream's, or the block's own.
[[gnu::always_inline]] inline Magazine* magazine_of(ThreadCache& cache, const Block& block,
                                                    const Stream* stream) noexcept {
  return stream != nullptr ? cache.find(*stream) : cache.find(block.stamp.stream);
}

// False if it was not done, for whatever reason: the slow path finds out.
[[gnu::always_inline]] inline bool hit_deallocate(AllocatorState& state, void* pointer,
                                                  const Stream* stream,
                                                  const std::size_t* bytes) noexcept {
  BlockIndex index = kNoBlock;
  if (state.find_block(pointer, &index) != Status::kOk) [[unlikely]]
    return false;
  Block& block = state.heap.blocks()[index];
  if (BlockTable::state_of(block) != BlockState::kLive || block.size_class == kNoClass ||
      block.uses != 0) [[unlikely]]
    return false;
  if (bytes != nullptr && *bytes != block.requested) return false;
  ThreadCache* const cache = this_thread_caches.of[state.id];
  if (cache == nullptr || !cache->enter(state.turn)) [[unlikely]]
    return false;
  Magazine* const magazine = magazine_of(*cache, block, stream);
  const std::uint64_t size = block.granules * kGranuleBytes;
  CacheCounters& counts = cache->counters;
  if (magazine == nullptr ||
      magazine->slots[block.size_class].count == magazine->slots[block.size_class].count_max ||
      counts.magazine_bytes.value() + size > cache->bytes_max ||
      !BlockTable::take_state(block, BlockState::kMagazine)) [[unlikely]] {
    cache->leave();
    return false;
  }
  // Relaxed: only whether there is one. Before the block can be anybody's again.
  if (state.observer.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    state.tell({EventKind::kFree, LadderStep::kMagazine, state.config.device, pointer, size,
                block.requested, magazine->handle});
  Magazine::Slot& slot = magazine->slots[block.size_class];
  block.stamp.stream = magazine->stream;
  block.next = slot.head;
  slot.head = index;
  ++slot.count;
  counts.frees.add(1);
  counts.freed_bytes.add(size);
  counts.freed_requested_bytes.add(block.requested);
  counts.magazine_bytes.add(size);
  cache->leave();
  return true;
}
}  // namespace

DeviceAllocator::~DeviceAllocator() {
  abandon();
}

Outcome DeviceAllocator::open(const DriverTable& driver, const AllocatorConfig& config) noexcept {
  if (is_open()) return {Status::kInvalidConfig};
  void* const memory = ::mmap(nullptr, sizeof(AllocatorState), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {Status::kNoMetadata};
  state_ = ::new (memory) AllocatorState;
  const Outcome opened = state_->open(driver, config);
  if (opened.is_ok()) return opened;
  // What was begun is taken back; a driver that refuses that as well keeps it.
  static_cast<void>(state_->close());
  abandon();
  return opened;
}

Outcome DeviceAllocator::close() noexcept {
  if (!is_open()) return {};
  const Outcome closed = state_->close();
  if (closed.is_ok()) abandon();
  return closed;
}

void DeviceAllocator::abandon() noexcept {
  if (!is_open()) return;
  state_->abandon();
  state_->~AllocatorState();
  ::munmap(state_, sizeof(AllocatorState));
  state_ = nullptr;
}

Allocation DeviceAllocator::try_allocate(std::size_t bytes, std::size_t alignment, Stream stream,
                                         OomReport* report) noexcept {
  if (state_ == nullptr) return {nullptr, {kClosedStatus}};
  // 0 bytes wrap around to the slow path; so does an alignment that is none.
  if (bytes - 1 < kSmallBytesMax && alignment - 1 < kGranuleBytes &&
      (alignment & (alignment - 1)) == 0) [[likely]] {
    void* const pointer = hit_allocate(*state_, bytes, stream);
    if (pointer != nullptr) [[likely]]
      return {pointer, {}};
  }
  return state_->allocate(bytes, alignment, stream, report);
}

Outcome DeviceAllocator::try_deallocate(void* pointer) noexcept {
  if (state_ == nullptr) return {pointer == nullptr ? Status::kOk : kClosedStatus};
  if (hit_deallocate(*state_, pointer, nullptr, nullptr)) [[likely]]
    return {};
  return state_->deallocate(pointer, nullptr, nullptr);
}

Outcome DeviceAllocator::try_deallocate(void* pointer, Stream stream) noexcept {
  if (state_ == nullptr) return {pointer == nullptr ? Status::kOk : kClosedStatus};
  if (hit_deallocate(*state_, pointer, &stream, nullptr)) [[likely]]
    return {};
  return state_->deallocate(pointer, &stream, nullptr);
}

Outcome DeviceAllocator::try_deallocate(void* pointer, std::size_t bytes, std::size_t /*alignment*/,
                                        Stream stream) noexcept {
  if (state_ == nullptr) return {pointer == nullptr ? Status::kOk : kClosedStatus};
  if (hit_deallocate(*state_, pointer, &stream, &bytes)) [[likely]]
    return {};
  return state_->deallocate(pointer, &stream, &bytes);
}

bool DeviceAllocator::owns(const void* pointer) const noexcept {
  return state_ != nullptr &&
         reinterpret_cast<std::uintptr_t>(pointer) - state_->base < state_->arena_bytes;
}
}  // namespace drey::cuda
