// pytorch_shape.cpp: the structure of PyTorch's caching allocator on its way to a cached block: one
// recursive lock a device, an ordered set to search, a set of active blocks, statistics by three pools,
// and a table of pointers behind one of 67 locks.
// Source: the members and steps as PyTorch 2.11 has them; no code.
// SPDX-License-Identifier: MIT
#include "cuda/counted_driver.hpp"
#include "cuda/shapes.hpp"

#include <array>
#include <deque>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace drey::bench {
namespace {
constexpr std::size_t kSmallMax = std::size_t{1} << 20;
constexpr std::size_t kShards = 67;

struct Block {
  std::size_t bytes = 0;
  cuda::Stream stream = nullptr;
  cuda::DevicePointer address = 0;
  std::size_t segment_bytes = 0;
  Block* previous = nullptr;
  Block* next = nullptr;
  bool is_allocated = false;
};

struct BySize {
  bool operator()(const Block* a, const Block* b) const {
    return std::tie(a->stream, a->bytes, a->address) < std::tie(b->stream, b->bytes, b->address);
  }
};

struct Figure {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;
  void change(std::int64_t amount) {
    current += amount;
    peak = current > peak ? current : peak;
    (amount > 0 ? allocated : freed) += amount;
  }
};
using Figures = std::array<Figure, 10>;

struct Shard {
  std::mutex lock;
  std::unordered_map<const void*, Block*> blocks;
};

class PytorchShape : public AllocatorShape {
 public:
  ~PytorchShape() override {
    for (Block* const block : all_) delete block;
  }

  void* allocate(std::size_t wanted, cuda::Stream stream) override {
    const std::size_t bytes = (wanted + 511) / 512 * 512;
    Block* block = nullptr;
    {
      const std::lock_guard guard(lock_);
      ask_pending();
      std::set<Block*, BySize>& pool = pools_[bytes > kSmallMax ? 1 : 0];
      Block key{bytes, stream, 0, 0, nullptr, nullptr, false};
      const auto found = pool.lower_bound(&key);
      if (found != pool.end() && (*found)->stream == stream) {
        block = *found;
        pool.erase(found);
      } else {
        block = new_segment(bytes, stream);
      }
      cut(pool, block, bytes);
      block->is_allocated = true;
      active_.insert(block);
      count(static_cast<std::int64_t>(block->bytes));
    }
    auto* const pointer = reinterpret_cast<void*>(block->address);
    Shard& shard = shard_of(pointer);
    const std::lock_guard guard(shard.lock);
    shard.blocks[pointer] = block;
    return pointer;
  }

  void deallocate(void* pointer, std::size_t /*bytes*/, cuda::Stream /*stream*/) override {
    Block* block = nullptr;
    {
      Shard& shard = shard_of(pointer);
      const std::lock_guard guard(shard.lock);
      const auto found = shard.blocks.find(pointer);
      block = found->second;
      shard.blocks.erase(found);
    }
    const std::lock_guard guard(lock_);
    count(-static_cast<std::int64_t>(block->bytes));
    active_.erase(block);
    block->is_allocated = false;
    std::set<Block*, BySize>& pool = pools_[block->segment_bytes > 2 * kSmallMax ? 1 : 0];
    join(pool, block, block->previous);
    join(pool, block, block->next);
    pool.insert(block);
  }

 private:
  Shard& shard_of(const void* pointer) {
    return shards_[reinterpret_cast<std::uintptr_t>(pointer) / 512 % kShards];
  }

  // Frees that wait for other streams: none in these cases, but looked for each time.
  void ask_pending() {
    while (!pending_.empty() &&
           counted_driver().event_query(pending_.front()) == cuda::Result::kSuccess)
      pending_.pop_front();
  }

  Block* new_segment(std::size_t bytes, cuda::Stream stream) {
    auto* const block = new Block;
    constexpr std::size_t kSmallSegment = 2 * kSmallMax;
    constexpr std::size_t kLargeSegment = 20 * kSmallMax;
    block->bytes = kSmallSegment;
    if (bytes > kSmallMax) block->bytes = bytes < 10 * kSmallMax ? kLargeSegment : bytes;
    block->segment_bytes = block->bytes;
    block->stream = stream;
    static_cast<void>(counted_driver().mem_alloc(&block->address, block->bytes));
    all_.insert(block);
    return block;
  }

  void cut(std::set<Block*, BySize>& pool, Block* block, std::size_t bytes) {
    const std::size_t rest = block->bytes - bytes;
    if (bytes > kSmallMax ? rest <= kSmallMax : rest < 512) return;
    auto* const remaining = new Block(*block);
    remaining->address += bytes;
    remaining->bytes = rest;
    remaining->previous = block;
    if (block->next != nullptr) block->next->previous = remaining;
    block->next = remaining;
    block->bytes = bytes;
    all_.insert(remaining);
    pool.insert(remaining);
  }

  void join(std::set<Block*, BySize>& pool, Block* block, Block* other) {
    if (other == nullptr || other->is_allocated) return;
    pool.erase(other);
    if (block->previous == other) {
      block->address = other->address;
      block->previous = other->previous;
      if (block->previous != nullptr) block->previous->next = block;
    } else {
      block->next = other->next;
      if (block->next != nullptr) block->next->previous = block;
    }
    block->bytes += other->bytes;
    all_.erase(other);
    delete other;
  }

  void count(std::int64_t bytes) {
    const std::size_t pool = bytes > static_cast<std::int64_t>(kSmallMax) ? 1 : 2;
    for (Figures* const figures : {figures_.data(), figures_.data() + pool}) {
      for (std::size_t figure = 0; figure < 5; ++figure)
        (*figures)[figure].change(figure % 2 == 0 ? bytes : (bytes > 0 ? 1 : -1));
    }
  }

  std::recursive_mutex lock_;
  std::set<Block*, BySize> pools_[2];
  std::unordered_set<Block*> active_;
  std::unordered_set<Block*> all_;
  std::deque<cuda::Event> pending_;
  std::array<Figures, 3> figures_;
  std::array<Shard, kShards> shards_;
};
}  // namespace

std::unique_ptr<AllocatorShape> make_pytorch_shape() {
  return std::make_unique<PytorchShape>();
}
}  // namespace drey::bench
