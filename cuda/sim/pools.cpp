// pools.cpp: see pools.hpp.
// SPDX-License-Identifier: MIT
#include "sim/pools.hpp"

#include <algorithm>
#include <iterator>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kRound = 512;

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}
}  // namespace

MemoryPool Pools::create(Device device, std::uint64_t bytes_max) {
  auto pool = std::make_shared<PoolState>();
  pool->device = device;
  pool->bytes_max = bytes_max;
  pools_.push_back(pool);
  ++created_;
  return table_.add(std::move(pool));
}

MemoryPool Pools::default_of(Device device) {
  const auto found = defaults_.find(device);
  if (found != defaults_.end()) return found->second;
  MemoryPool pool = create(device, 0);
  table_.find(pool)->is_default = true;
  --created_;  // by nobody
  defaults_[device] = pool;
  return pool;
}

Result Pools::destroy(MemoryPool handle) {
  const std::shared_ptr<PoolState> pool = table_.share(handle);
  if (pool == nullptr || pool->is_default) return Result::kInvalidValue;
  pool->is_destroyed = true;
  table_.erase(handle);
  --created_;
  trim(*pool, 0);
  return Result::kSuccess;
}

Pools::Order Pools::order_for(const PoolState& pool, const PoolBlock& block,
                              const StreamState& stream) const {
  if (block.stream == stream.id || block.freed.work == 0) return Order::kNow;
  const bool is_followed = pool.follows_events && stream.clock.covers_all(block.freed.clock);
  const bool is_past = pool.is_opportunistic && timeline_.work.is_complete(block.freed.work);
  if (is_followed || is_past) return Order::kNow;
  return pool.inserts_waits ? Order::kAfterWait : Order::kNever;
}

// The smallest free block that is large enough, among those that the stream may have in this order.
Pools::Fit Pools::find_fit(PoolState& pool, std::size_t bytes, const StreamState& stream,
                           Order order) {
  Fit fit;
  for (auto& [base, piece] : pool.pieces) {
    for (auto block = piece.blocks.begin(); block != piece.blocks.end(); ++block) {
      const PoolBlock& candidate = block->second;
      const bool is_better = candidate.is_free && candidate.bytes >= bytes &&
                             (fit.blocks == nullptr || candidate.bytes < fit.block->second.bytes);
      if (is_better && order_for(pool, candidate, stream) == order) fit = {&piece.blocks, block};
    }
  }
  return fit;
}

Pools::Fit Pools::new_piece(PoolState& pool, std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, piece_bytes_);
  if (pool.bytes_max != 0 && wanted > pool.bytes_max - std::min(pool.bytes_max, pool.reserved))
    return {};
  DevicePointer base = 0;
  if (memory_.allocate(&base, wanted, pool.device) != Result::kSuccess) return {};
  PoolPiece& piece = pool.pieces[base];
  piece.bytes = wanted;
  piece.blocks[base].bytes = wanted;
  pool.reserved += wanted;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return {&piece.blocks, piece.blocks.begin()};
}

Result Pools::allocate(PoolState& pool, DevicePointer* pointer, std::size_t wanted,
                       StreamState& stream) {
  if (wanted > SIZE_MAX / 2) return Result::kOutOfMemory;
  const std::size_t bytes = round_up(wanted, kRound);
  Fit fit = find_fit(pool, bytes, stream, Order::kNow);
  if (fit.blocks == nullptr) fit = find_fit(pool, bytes, stream, Order::kAfterWait);
  if (fit.blocks == nullptr) fit = new_piece(pool, bytes);
  if (fit.blocks == nullptr) {
    trim(pool, 0);
    fit = new_piece(pool, bytes);
  }
  if (fit.blocks == nullptr) return Result::kOutOfMemory;
  PoolBlock& block = fit.block->second;
  // Whatever the reason why the stream may have it, its work comes after the free from here on.
  if (block.stream != stream.id && block.freed.work != 0) timeline_.wait(stream, block.freed);
  if (block.bytes != bytes) {
    PoolBlock rest = block;
    rest.bytes -= bytes;
    fit.blocks->emplace(fit.block->first + bytes, rest);
    block.bytes = bytes;
  }
  block.is_free = false;
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  *pointer = fit.block->first;
  return Result::kSuccess;
}

PoolBlock* Pools::find_used(DevicePointer pointer, PoolState** pool, Blocks** blocks) const {
  for (const auto& state : pools_) {
    auto piece = state->pieces.upper_bound(pointer);
    if (piece == state->pieces.begin()) continue;
    --piece;
    const auto found = piece->second.blocks.find(pointer);
    if (found == piece->second.blocks.end() || found->second.is_free) continue;
    *pool = state.get();
    *blocks = &piece->second.blocks;
    return &found->second;
  }
  return nullptr;
}

bool Pools::owns(DevicePointer pointer) const {
  return std::any_of(pools_.begin(), pools_.end(), [&](const auto& pool) {
    const auto piece = pool->pieces.upper_bound(pointer);
    return piece != pool->pieces.begin() &&
           pointer - std::prev(piece)->first < std::prev(piece)->second.bytes;
  });
}

Result Pools::deallocate(DevicePointer pointer, std::uint64_t stream, const EventState& freed) {
  PoolState* pool = nullptr;
  Blocks* blocks = nullptr;
  PoolBlock* const block = find_used(pointer, &pool, &blocks);
  if (block == nullptr) return Result::kInvalidValue;
  block->is_free = true;
  block->stream = stream;
  block->freed = freed;
  pool->used -= block->bytes;
  merge(*blocks, blocks->find(pointer));
  if (pool->is_destroyed) trim(*pool, 0);
  return Result::kSuccess;
}

void Pools::swallow(Blocks& blocks, Blocks::iterator first, Blocks::iterator second) {
  PoolBlock& block = first->second;
  const PoolBlock& other = second->second;
  block.bytes += other.bytes;
  if (block.stream != other.stream) block.stream = 0;
  block.freed.clock.join(other.freed.clock);
  block.freed.work = timeline_.work.mark({block.freed.work, other.freed.work});
  blocks.erase(second);
}

void Pools::merge(Blocks& blocks, Blocks::iterator block) {
  const auto next = std::next(block);
  if (next != blocks.end() && next->second.is_free) swallow(blocks, block, next);
  if (block == blocks.begin()) return;
  const auto before = std::prev(block);
  if (before->second.is_free) swallow(blocks, before, block);
}

void Pools::trim(PoolState& pool, std::uint64_t keep) {
  for (auto piece = pool.pieces.begin(); piece != pool.pieces.end();) {
    const PoolBlock& first = piece->second.blocks.begin()->second;
    const bool is_idle = first.is_free && first.bytes == piece->second.bytes &&
                         timeline_.work.is_complete(first.freed.work);
    if (!is_idle || pool.reserved <= keep) {
      ++piece;
      continue;
    }
    // The driver has seen that it is complete, so what is put there later comes after it.
    timeline_.host_waits(first.freed.work, first.freed.clock);
    std::size_t bytes = 0;
    static_cast<void>(memory_.deallocate(piece->first, &bytes));
    pool.reserved -= piece->second.bytes;
    piece = pool.pieces.erase(piece);
  }
}

void Pools::after_wait() {
  for (const auto& pool : pools_) trim(*pool, pool->is_destroyed ? 0 : pool->threshold);
  std::erase_if(pools_,
                [](const auto& pool) { return pool->is_destroyed && pool->pieces.empty(); });
}

void Pools::forget(Device device) {
  for (const auto& pool : pools_) {
    if (pool->device != device) continue;
    pool->pieces.clear();
    pool->reserved = 0;
    pool->used = 0;
  }
}
}  // namespace drey::cuda::sim
