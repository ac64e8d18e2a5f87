// environment.hpp: what an agent sees of a world: observations, actions, reset(seed) and step().
// The words are Gymnasium's. Observations are rows of a table that the environment owns and are
// named by row number, so a transition is 16 bytes and no observation is ever stored twice.
// Invariant: a row that was handed out keeps its contents while a replay buffer of the agreed
// capacity may still name it (ObservationRing says how).
// Read next: trading.hpp, cart_pole.hpp, vector_environment.hpp, agent/agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace drey::trainer {
using ObservationRow = std::uint32_t;  ///< row of an observation in its table
using Action = std::uint8_t;           ///< 0 .. action count - 1

/// Makes observations when they are asked for. Threads: any.
class RowConverter {
 public:
  /// On a cache line; valid until the calling thread asks any converter for another row.
  [[nodiscard]] virtual const float* converted_row(ObservationRow index) const = 0;

 protected:
  ~RowConverter() = default;
};

/// A view of observations. Shape: (rows, width) row-major; `stride` floats from row to row, every
/// row on a cache line. With a converter there are no values to view: each row is made on each use.
struct ObservationTable {
  const float* values = nullptr;
  std::size_t rows = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  const RowConverter* converter = nullptr;
  bool is_fixed = false;  ///< nothing of it ever changes: a device may keep a copy

  [[nodiscard]] bool converts() const { return converter != nullptr; }
  [[nodiscard]] const float* row(ObservationRow index) const {
    if (converter != nullptr) [[unlikely]] {
      return converter->converted_row(index);
    }
    return values + index * stride;
  }
};

struct StepResult {
  ObservationRow observation;  ///< after the action; of the old episode when it has ended
  double reward;
  bool terminated;  ///< the world ended: the value beyond is zero
  bool truncated;   ///< time ran out: the value beyond is still estimated from `observation`

  [[nodiscard]] bool ended() const { return terminated || truncated; }
};

/// Another problem is one class that models this; examples/own_environment.cpp is one in full.
/// reset() begins an episode of which the seed decides everything that is random.
template <class World>
concept Environment = requires(World world, const World constant, Action action,
                               std::uint64_t seed) {
  { world.reset(seed) } -> std::same_as<ObservationRow>;
  { world.step(action) } -> std::same_as<StepResult>;
  { constant.observations() } -> std::same_as<ObservationTable>;
  { World::kActionCount } -> std::convertible_to<std::size_t>;
};

/// A world that a checkpoint can hold in the middle of an episode: its state is some numbers.
/// restore() says false, leaving the world as it was, when they are none of its states.
template <class World>
concept ResumableEnvironment = Environment<World> &&
    requires(World world, const World constant,
             const std::array<double, World::kStateSize>& state) {
  { constant.state() } -> std::same_as<std::array<double, World::kStateSize>>;
  { world.restore(state) } -> std::same_as<bool>;
};

/// The seed of episode number `episode` of world number `world` in a run of seed `seed`.
/// Source of the mixing: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014, section 3 (the finaliser of splitmix64).
[[nodiscard]] constexpr std::uint64_t episode_seed(std::uint64_t seed, std::uint64_t world,
                                                   std::uint64_t episode) {
  std::uint64_t mixed = seed;
  for (const std::uint64_t part : {world, episode}) {
    mixed += 0x9e3779b97f4a7c15u * (part + 1);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
  }
  return mixed;
}
}  // namespace drey::trainer
