// world_tensors.hpp: states of worlds and episodes as arrays of a checkpoint:
//   world.state (worlds, state size), world.episode (worlds, 3): observation, number, return so far.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "trainer/environments/observation_ring.hpp"
#include "trainer/environments/vector_environment.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::trainer {
class WorldTensors {
 public:
  explicit WorldTensors(std::size_t state_size) : state_size_(state_size) {}
  /// Fails: CheckpointError when the arrays are not of these shapes, or an episode shows no row
  /// below `row_end`.
  WorldTensors(const TensorReader& reader, std::size_t world_count, std::size_t state_size,
               std::size_t row_end);

  void add(std::span<const double> state, const Episode& episode);
  void save(TensorWriter& writer) const;

  [[nodiscard]] std::span<const double> state(std::size_t world) const {
    return std::span(states_).subspan(world * state_size_, state_size_);
  }
  [[nodiscard]] Episode episode(std::size_t world) const;

 private:
  std::size_t state_size_;
  std::vector<double> states_;
  std::vector<double> episodes_;
};

/// The rows of a ring that were written: ring.observations (rows, width), ring.next (1).
void save_ring(TensorWriter& writer, const ObservationRing& ring);
/// Fails: CheckpointError when they are not those of a ring of this shape, or not finite.
void restore_ring(const TensorReader& reader, ObservationRing& ring);
}  // namespace drey::trainer
