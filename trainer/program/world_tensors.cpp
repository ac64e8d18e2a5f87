// world_tensors.cpp: see world_tensors.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/world_tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace drey::trainer {
namespace {
constexpr std::size_t kEpisodeSize = 3;
constexpr const char* kStates = "world.state";
constexpr const char* kEpisodes = "world.episode";
constexpr const char* kRingRows = "ring.observations";
constexpr const char* kRingNext = "ring.next";
constexpr double kWholeEnd = 0x1p53;  // whole numbers below are exact

bool is_whole(double value, double end) {
  return value >= 0 && value < end && std::floor(value) == value;
}
}  // namespace

WorldTensors::WorldTensors(const TensorReader& reader, std::size_t world_count,
                           std::size_t state_size, std::size_t row_end)
    : state_size_(state_size),
      states_(world_count * state_size),
      episodes_(world_count * kEpisodeSize) {
  reader.read(kStates, {world_count, state_size}, std::span(states_));
  reader.read(kEpisodes, {world_count, kEpisodeSize}, std::span(episodes_));
  for (std::size_t world = 0; world < world_count; ++world) {
    const double* const episode = episodes_.data() + world * kEpisodeSize;
    if (!is_whole(episode[0], static_cast<double>(row_end)) || !is_whole(episode[1], kWholeEnd) ||
        !std::isfinite(episode[2])) {
      reader.refuse("rows below " + std::to_string(row_end) +
                        ", whole episode numbers and finite " + "returns in 'world.episode'",
                    "others for world " + std::to_string(world));
    }
  }
}

void WorldTensors::add(std::span<const double> state, const Episode& episode) {
  states_.insert(states_.end(), state.begin(), state.end());
  episodes_.push_back(static_cast<double>(episode.observation));
  episodes_.push_back(static_cast<double>(episode.number));
  episodes_.push_back(episode.episode_return);
}

void WorldTensors::save(TensorWriter& writer) const {
  const std::size_t world_count = episodes_.size() / kEpisodeSize;
  writer.add(kStates, {world_count, state_size_}, std::span<const double>(states_));
  writer.add(kEpisodes, {world_count, kEpisodeSize}, std::span<const double>(episodes_));
}

Episode WorldTensors::episode(std::size_t world) const {
  const double* const episode = episodes_.data() + world * kEpisodeSize;
  return {static_cast<ObservationRow>(episode[0]), static_cast<std::uint64_t>(episode[1]),
          episode[2]};
}

void save_ring(TensorWriter& writer, const ObservationRing& ring) {
  const ObservationTable table = ring.table();
  std::vector<float> rows;
  rows.reserve(ring.used() * table.width);
  for (std::size_t row = 0; row < ring.used(); ++row) {
    const float* const values = table.row(static_cast<ObservationRow>(row));
    rows.insert(rows.end(), values, values + table.width);
  }
  const std::array<std::int64_t, 1> next = {static_cast<std::int64_t>(ring.next())};
  writer.add(kRingRows, {ring.used(), table.width}, std::span<const float>(rows));
  writer.add(kRingNext, {1}, std::span<const std::int64_t>(next));
}

void restore_ring(const TensorReader& reader, ObservationRing& ring) {
  const ObservationTable table = ring.table();
  const TensorShape& shape = reader.shape_of(kRingRows);
  std::array<std::int64_t, 1> next{};
  reader.read(kRingNext, {1}, std::span<std::int64_t>(next));
  const std::uint64_t used = shape.size() == 2 ? shape[0] : table.rows + 1;
  const auto place = static_cast<std::uint64_t>(next[0]);
  if (used > table.rows || place != (used < table.rows ? used : place % table.rows)) {
    reader.refuse("a ring of at most " + std::to_string(table.rows) + " observations",
                  text_of(shape) + ", next " + std::to_string(next[0]));
  }
  std::vector<float> rows(used * table.width);
  reader.read(kRingRows, {used, table.width}, std::span<float>(rows));
  if (!std::all_of(rows.begin(), rows.end(), [](float value) { return std::isfinite(value); })) {
    reader.refuse("finite numbers in 'ring.observations'", "others");
  }
  ring.restore(rows, place);
}
}  // namespace drey::trainer
