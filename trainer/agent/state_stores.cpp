// state_stores.cpp: see state_stores.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/state_stores.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <drey/base/assert.hpp>
#include <drey/pools/gather_vectors.hpp>

namespace drey::trainer {
namespace {
constexpr std::size_t kRefsAtOnce = 256;

std::vector<float> copy_of(const float* row, std::size_t width) {
  return {row, row + width};
}
}  // namespace

void IndexStates::gather(const Draw& draw, const ObservationTable& table,
                         const StateRoom& room) const {
  for (std::size_t index = 0; index < draw.transitions.size(); ++index) {
    const Transition& transition = draw.transitions[index];
    // One after the other: a table that converts may give both in the same place.
    std::copy_n(table.row(transition.observation), table.width,
                room.observations + index * room.stride);
    std::copy_n(table.row(transition.next_observation), table.width,
                room.next_observations + index * room.stride);
  }
}

StatePair::StatePair(const Transition& transition, const ObservationTable& table)
    : observation(copy_of(table.row(transition.observation), table.width)),
      next_observation(copy_of(table.row(transition.next_observation), table.width)) {}

void StatePair::copy_to(std::size_t row, const StateRoom& room) const {
  std::copy(observation.begin(), observation.end(), room.observations + row * room.stride);
  std::copy(next_observation.begin(), next_observation.end(),
            room.next_observations + row * room.stride);
}

void CopyStates::gather(const Draw& draw, const ObservationTable&, const StateRoom& room) const {
  std::vector<StatePair> clones;
  clones.reserve(draw.slots.size());
  for (const std::uint32_t slot : draw.slots) clones.push_back(pairs_[slot]);
  for (std::size_t index = 0; index < clones.size(); ++index) clones[index].copy_to(index, room);
}

std::size_t CopyStates::bytes() const {
  std::size_t bytes = pairs_.capacity() * sizeof(StatePair);
  for (const StatePair& pair : pairs_) bytes += pair.bytes();
  return bytes;
}

void SharedStates::gather(const Draw& draw, const ObservationTable&, const StateRoom& room) const {
  std::vector<std::shared_ptr<const StatePair>> drawn;
  drawn.reserve(draw.slots.size());
  for (const std::uint32_t slot : draw.slots) drawn.push_back(pairs_[slot]);
  for (std::size_t index = 0; index < drawn.size(); ++index) drawn[index]->copy_to(index, room);
}

std::size_t SharedStates::bytes() const {
  constexpr std::size_t kCountsBytes = 2 * sizeof(void*);  // of a block by make_shared
  std::size_t bytes = pairs_.capacity() * sizeof(pairs_[0]);
  for (const auto& pair : pairs_) {
    if (pair) bytes += kCountsBytes + sizeof(StatePair) + pair->bytes();
  }
  return bytes;
}

PoolStates::PoolStates(std::size_t capacity) : pool_(2 * capacity), pairs_(capacity) {
  if (pool_.capacity() == 0) throw std::bad_alloc();
}

PoolStates::~PoolStates() {
  for (const Pair& pair : pairs_) {
    pool_.give_back(pool_.find(pair.observation));
    pool_.give_back(pool_.find(pair.next_observation));
  }
}

VectorRef PoolStates::keep(const float* row) {
  PackedVectorPool225::PooledVector vector =
      pool_.take_copy(std::span<const float, kWidth>(row, kWidth));
  if (!vector) throw std::bad_alloc();  // the pool has room for all slots: no memory behind it
  const VectorRef ref = vector.ref();
  static_cast<void>(vector.detach());  // its slot holds it, by name
  return ref;
}

void PoolStates::put(std::size_t slot, const Transition& transition,
                     const ObservationTable& table) {
  DREY_ASSERT(table.width == kWidth);
  Pair& pair = pairs_[slot];
  pool_.give_back(pool_.find(pair.observation));
  pool_.give_back(pool_.find(pair.next_observation));
  pair.observation = keep(table.row(transition.observation));
  pair.next_observation = keep(table.row(transition.next_observation));
}

void PoolStates::gather_one(std::span<const std::uint32_t> slots, VectorRef Pair::*which,
                            float* room, std::size_t stride) const {
  std::array<VectorRef, kRefsAtOnce> refs;
  for (std::size_t first = 0; first < slots.size(); first += kRefsAtOnce) {
    const std::size_t count = std::min(kRefsAtOnce, slots.size() - first);
    for (std::size_t index = 0; index < count; ++index) {
      refs[index] = pairs_[slots[first + index]].*which;
    }
    const GatherResult result = drey::gather(std::span<const VectorRef>(refs.data(), count), pool_,
                                             BatchRows{room + first * stride, count, stride});
    DREY_CHECK(result == GatherResult::kDone, "a slot of the replay has lost its vector");
  }
}

void PoolStates::gather(const Draw& draw, const ObservationTable&, const StateRoom& room) const {
  gather_one(draw.slots, &Pair::observation, room.observations, room.stride);
  gather_one(draw.slots, &Pair::next_observation, room.next_observations, room.stride);
}

std::size_t PoolStates::bytes() const {
  std::size_t held = 0;
  for (const Pair& pair : pairs_) held += pool_.find(pair.observation) != nullptr ? 2 : 0;
  return pairs_.capacity() * sizeof(Pair) + held * pool_.stride_bytes();
}
}  // namespace drey::trainer
