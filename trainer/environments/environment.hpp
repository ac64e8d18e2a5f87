// environment.hpp: what an agent sees of a world: observations, actions, reset() and step().
// The words are Gymnasium's. Observations are rows of a table that the environment owns and are
// named by row number, so a transition is 16 bytes and no observation is ever stored twice.
// Invariant: a row that was handed out keeps its contents while a replay buffer of the agreed
// capacity may still name it (ObservationRing says how).
// Read next: environments/trading.hpp, environments/cart_pole.hpp, agent.hpp.
// SPDX-License-Identifier: MIT
#pragma once

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

template <class World>
concept Environment = requires(World world, const World constant, Action action) {
  { world.reset() } -> std::same_as<ObservationRow>;
  { world.step(action) } -> std::same_as<StepResult>;
  { constant.observations() } -> std::same_as<ObservationTable>;
  { World::kActionCount } -> std::convertible_to<std::size_t>;
};
}  // namespace drey::trainer
