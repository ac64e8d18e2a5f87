// pools.hpp: the driver's own memory pools: allocations in the order of streams, freed blocks used again
// under three policies, memory given back above a threshold.
//
// Invariants: pieces of device memory are cut into blocks without gaps; a block of use is in `used`. A free
// block goes to another stream only where its free is ordered before that stream's next work: it was
// waited for already, it is complete, or the stream is made to wait for it. Neighbours that are free
// merge, and then count as freed by no stream in particular.
// Source: the attributes and calls as <cuda.h> of CUDA 13.0 documents them.
// Read next: pools.cpp, calls_pools.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/handle_table.hpp"
#include "sim/memory.hpp"
#include "sim/timeline.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace drey::cuda::sim {
struct PoolBlock {
  std::size_t bytes = 0;
  bool is_free = true;
  std::uint64_t stream = 0;  // id, of the free; 0: none, or several
  EventState freed;          // what the free came after
};

struct PoolPiece {
  std::size_t bytes = 0;
  std::map<DevicePointer, PoolBlock> blocks;
};

struct PoolState {
  Device device = 0;
  bool is_default = false;
  bool is_destroyed = false;  // its blocks live on
  bool follows_events = true;
  bool is_opportunistic = true;
  bool inserts_waits = true;
  std::uint64_t threshold = 0;
  std::uint64_t bytes_max = 0;  // 0: the device's
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::map<DevicePointer, PoolPiece> pieces;
};

class Pools {
 public:
  Pools(Memory& memory, Timeline& timeline, std::uint64_t piece_bytes)
      : memory_(memory), timeline_(timeline), piece_bytes_(piece_bytes) {}

  MemoryPool create(Device device, std::uint64_t bytes_max);
  MemoryPool default_of(Device device);
  [[nodiscard]] std::shared_ptr<PoolState> find(MemoryPool pool) const {
    return table_.share(pool);
  }
  /// Null for a default pool's handle too.
  Result destroy(MemoryPool pool);

  Result allocate(PoolState& pool, DevicePointer* pointer, std::size_t bytes, StreamState& stream);
  /// Fails: kInvalidValue for what no pool gave. `freed`: the end of the stream; `stream`: its id.
  Result deallocate(DevicePointer pointer, std::uint64_t stream, const EventState& freed);
  [[nodiscard]] bool owns(DevicePointer pointer) const;

  /// Gives whole free pieces back whose frees are complete, until at most `keep` bytes are reserved.
  void trim(PoolState& pool, std::uint64_t keep);
  /// Somebody waited: each pool comes down to its threshold.
  void after_wait();
  /// The device's memory is gone.
  void forget(Device device);
  [[nodiscard]] std::size_t created() const { return created_; }

 private:
  using Blocks = std::map<DevicePointer, PoolBlock>;
  struct Fit {
    Blocks* blocks = nullptr;
    Blocks::iterator block;
  };
  enum class Order { kNow, kAfterWait, kNever };

  Order order_for(const PoolState& pool, const PoolBlock& block, const StreamState& stream) const;
  Fit find_fit(PoolState& pool, std::size_t bytes, const StreamState& stream, Order order);
  Fit new_piece(PoolState& pool, std::size_t bytes);
  PoolBlock* find_used(DevicePointer pointer, PoolState** pool, Blocks** blocks) const;
  void merge(Blocks& blocks, Blocks::iterator block);
  void swallow(Blocks& blocks, Blocks::iterator first, Blocks::iterator second);

  Memory& memory_;
  Timeline& timeline_;
  std::uint64_t piece_bytes_;
  std::size_t created_ = 0;
  HandleTable<MemoryPool, PoolState> table_{0x5700'0000'0000};
  std::map<Device, MemoryPool> defaults_;
  std::vector<std::shared_ptr<PoolState>> pools_;  // destroyed ones with live blocks too
};
}  // namespace drey::cuda::sim
