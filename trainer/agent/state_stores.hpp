// state_stores.hpp: who keeps the observations that the transitions of a replay buffer name: nobody
// but the table they came from, or the replay itself, in one of three ways.
//   form     holds                                           bytes a transition   heap calls a batch
//   index    nothing: a row number is enough                          0                   0
//   pool     two rows of a VectorPool, named by VectorRef         2 * 900                 0
//   shared   a counted pointer to two vectors                     2 * 912 + 96            1
//   copy     two vectors, copied again for each draw              2 * 912 + 48       4 * batch + 2
// copy and shared are what the audited trainer did, before and after its first fix; they are here to
// be raced. Invariant: all four give the same numbers, so the same weights bit for bit.
// Read next: replay_store.hpp, which chooses one; batch_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/replay_buffer.hpp"
#include "trainer/environments/environment.hpp"

#include <drey/pools/vector_pool.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace drey::trainer {
/// Room for the observations of a batch. Shape: (batch, width) row-major, each.
struct StateRoom {
  float* observations;
  float* next_observations;
  std::size_t stride;  ///< floats from row to row
};

/// What was drawn: slots of the replay, and the transitions that lie in them.
struct Draw {
  std::span<const std::uint32_t> slots;
  std::span<const Transition> transitions;
};

/// Threads: put() alone; gather() by any number of readers while nobody puts.
template <class Store>
concept StateStore = requires(Store store, const Store constant, std::size_t slot, Draw draw,
                              const Transition& transition, const ObservationTable& table,
                              const StateRoom& room) {
  store.put(slot, transition, table);  // from now on these are the slot's observations
  constant.gather(draw, table, room);
  { constant.bytes() } -> std::same_as<std::size_t>;  // beside the transitions and the table
};

class IndexStates {
 public:
  void put(std::size_t, const Transition&, const ObservationTable&) {}
  void gather(const Draw& draw, const ObservationTable& table, const StateRoom& room) const;
  [[nodiscard]] std::size_t bytes() const { return 0; }
};

/// The observations of one transition, on their own.
struct StatePair {
  std::vector<float> observation;
  std::vector<float> next_observation;

  StatePair() = default;
  StatePair(const Transition& transition, const ObservationTable& table);
  void copy_to(std::size_t row, const StateRoom& room) const;
  [[nodiscard]] std::size_t bytes() const {
    return (observation.capacity() + next_observation.capacity()) * sizeof(float);
  }
};

class CopyStates {
 public:
  explicit CopyStates(std::size_t capacity) : pairs_(capacity) {}

  void put(std::size_t slot, const Transition& transition, const ObservationTable& table) {
    pairs_[slot] = StatePair(transition, table);
  }
  /// Draws are clones, as they were; then they are laid side by side.
  void gather(const Draw& draw, const ObservationTable& table, const StateRoom& room) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<StatePair> pairs_;
};

class SharedStates {
 public:
  explicit SharedStates(std::size_t capacity) : pairs_(capacity) {}

  void put(std::size_t slot, const Transition& transition, const ObservationTable& table) {
    pairs_[slot] = std::make_shared<const StatePair>(transition, table);
  }
  void gather(const Draw& draw, const ObservationTable& table, const StateRoom& room) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<std::shared_ptr<const StatePair>> pairs_;
};

/// For observations of 225 values only.
class PoolStates {
 public:
  static constexpr std::size_t kWidth = PackedVectorPool225::kValueCount;
  static constexpr std::size_t kCapacityMax = kPlacesMax / 2;  ///< transitions

  /// Requires: 1 <= capacity <= kCapacityMax. Fails: std::bad_alloc.
  explicit PoolStates(std::size_t capacity);
  ~PoolStates();
  PoolStates(const PoolStates&) = delete;
  PoolStates& operator=(const PoolStates&) = delete;

  void put(std::size_t slot, const Transition& transition, const ObservationTable& table);
  void gather(const Draw& draw, const ObservationTable& table, const StateRoom& room) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Names of the two vectors of a slot.
  struct Pair {
    VectorRef observation;
    VectorRef next_observation;
  };

  [[nodiscard]] VectorRef keep(const float* row);
  void gather_one(std::span<const std::uint32_t> slots, VectorRef Pair::*which, float* room,
                  std::size_t stride) const;

  PackedVectorPool225 pool_;
  std::vector<Pair> pairs_;
};

static_assert(StateStore<IndexStates> && StateStore<CopyStates> && StateStore<SharedStates> &&
              StateStore<PoolStates>);
}  // namespace drey::trainer
