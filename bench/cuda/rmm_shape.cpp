// rmm_shape.cpp: the structure of RMM's pool on its way: one lock, free blocks a stream in a list by
// address that is searched from its beginning for the best fit and for the place of a free, an event
// recorded at every free, the stream's number asked for at every call, allocated blocks in a set.
// Source: the structure as RMM documents it; no code.
// SPDX-License-Identifier: MIT
#include "cuda/counted_driver.hpp"
#include "cuda/shapes.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <set>

namespace drey::bench {
namespace {
struct Block {
  cuda::DevicePointer address = 0;
  std::size_t bytes = 0;
  bool is_head = false;  // where the driver's piece begins: never joined to what is before
  bool operator<(const Block& other) const { return address < other.address; }
};

class RmmShape : public AllocatorShape {
 public:
  void* allocate(std::size_t wanted, cuda::Stream stream) override {
    const std::size_t bytes = (wanted + 255) / 256 * 256;
    const std::lock_guard guard(lock_);
    std::list<Block>& blocks = list_of(stream).blocks;
    auto best = blocks.end();
    for (auto block = blocks.begin(); block != blocks.end(); ++block) {
      if (block->bytes >= bytes && (best == blocks.end() || block->bytes < best->bytes))
        best = block;
    }
    if (best == blocks.end()) best = grow(blocks, bytes);
    Block taken = *best;
    if (taken.bytes == bytes) {
      blocks.erase(best);
    } else {
      best->address += bytes;
      best->bytes -= bytes;
      best->is_head = false;
      taken.bytes = bytes;
    }
    allocated_.insert(taken);
    return reinterpret_cast<void*>(taken.address);
  }

  void deallocate(void* pointer, std::size_t /*bytes*/, cuda::Stream stream) override {
    const std::lock_guard guard(lock_);
    const auto found = allocated_.find({reinterpret_cast<cuda::DevicePointer>(pointer), 0, false});
    Block block = *found;
    allocated_.erase(found);
    StreamList& list = list_of(stream);
    static_cast<void>(counted_driver().event_record(list.event, stream));
    auto next = std::find_if(list.blocks.begin(), list.blocks.end(),
                             [&](const Block& other) { return block.address < other.address; });
    if (next != list.blocks.begin()) {
      const auto before = std::prev(next);
      if (before->address + before->bytes == block.address && !block.is_head) {
        block = {before->address, before->bytes + block.bytes, before->is_head};
        list.blocks.erase(before);
      }
    }
    if (next != list.blocks.end() && block.address + block.bytes == next->address &&
        !next->is_head) {
      block.bytes += next->bytes;
      next = list.blocks.erase(next);
    }
    list.blocks.insert(next, block);
  }

 private:
  struct StreamList {
    cuda::Event event = nullptr;
    std::list<Block> blocks;
  };

  StreamList& list_of(cuda::Stream stream) {
    unsigned long long id = 0;
    static_cast<void>(counted_driver().stream_get_id(stream, &id));
    StreamList& list = lists_[id];
    if (list.event == nullptr) static_cast<void>(counted_driver().event_create(&list.event, 2));
    return list;
  }

  std::list<Block>::iterator grow(std::list<Block>& blocks, std::size_t bytes) {
    Block block;
    block.bytes = std::max<std::size_t>(bytes, std::size_t{1} << 30);
    block.is_head = true;
    static_cast<void>(counted_driver().mem_alloc(&block.address, block.bytes));
    const auto place = std::find_if(blocks.begin(), blocks.end(), [&](const Block& other) {
      return block.address < other.address;
    });
    return blocks.insert(place, block);
  }

  std::mutex lock_;
  std::map<unsigned long long, StreamList> lists_;
  std::set<Block> allocated_;
};
}  // namespace

std::unique_ptr<AllocatorShape> make_rmm_shape() {
  return std::make_unique<RmmShape>();
}
}  // namespace drey::bench
