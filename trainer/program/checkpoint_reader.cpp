// checkpoint_reader.cpp: the reading half of checkpoint.hpp.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>
#include <vector>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_format.hpp"
#include "trainer/program/hyperparameters_json.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;
constexpr const char* kFirstWeights = "network.0.weight";

/// A member of the checkpoint's state, of the wanted kind.
template <class Value>
Value member(const TensorReader& reader, const Json& state, const char* name) {
  const auto found = state.find(name);
  const bool is_right =
      found != state.end() && (std::is_floating_point_v<Value> ? found->is_number()
                               : std::is_unsigned_v<Value>     ? found->is_number_unsigned()
                               : std::is_integral_v<Value>     ? found->is_number_integer()
                                                               : found->is_string());
  if (!is_right) reader.refuse(std::string("a value for ") + name, "none that fits");
  return found->get<Value>();
}

RandomState random_state(const TensorReader& reader, const Json& state, const char* name) {
  const auto found = state.find(name);
  if (found == state.end() || !found->is_array() || found->size() != 2 ||
      !(*found)[0].is_number_unsigned() || !(*found)[1].is_number_unsigned()) {
    reader.refuse(std::string("two whole numbers for ") + name, "none that fit");
  }
  return {(*found)[0].get<std::uint64_t>(), (*found)[1].get<std::uint64_t>()};
}
}  // namespace

Checkpoint::~Checkpoint() = default;

Checkpoint::Checkpoint(const std::string& path) : reader_(path, read_file(path)) {
  const std::string& format = reader_.metadata("format");
  if (format != kCheckpointFormat)
    reader_.refuse("format " + trainer::quoted(kCheckpointFormat), trainer::quoted(format));
  state_ = std::make_unique<const Json>(Json::parse(reader_.metadata("state"), nullptr, false));
  if (!state_->is_object())
    reader_.refuse("a state in JSON", trainer::quoted(reader_.metadata("state")));
  check_features();
}

void Checkpoint::check_features() const {
  const TensorShape& shape = reader_.shape_of(kFirstWeights);
  if (shape.size() != 2 || shape[1] != kFeatureDim) {
    reader_.refuse(std::to_string(kFeatureDim) + " features in " + trainer::quoted(kFirstWeights),
                   shape.size() == 2 ? std::to_string(shape[1]) : "shape " + text_of(shape));
  }
  if (reader_.metadata("features") != feature_names_text()) {
    reader_.refuse("the feature names of this version", "others");
  }
}

void Checkpoint::adopt_hyperparameters(Hyperparameters& hyper, const std::set<std::string>& given,
                                       bool must_agree) const {
  const Json stored = Json::parse(reader_.metadata("hyperparameters"), nullptr, false);
  if (!stored.is_object()) reader_.refuse("hyperparameters in JSON", "something else");
  const auto adopt = [&](const std::string& option, auto& value, const auto& stored_value) {
    if (!given.contains(option)) {
      value = stored_value;
    } else if (must_agree && value != stored_value) {
      reader_.refuse("option " + option + " to be left out or " + Json(stored_value).dump() +
                         ", as in the run to go on with",
                     Json(value).dump());
    }
  };
  for_each_hyperparameter(hyper, [&](const char* option, auto& value, auto limits, auto, auto) {
    auto stored_value = value;
    if (!read_member(stored, option, stored_value, limits)) {
      reader_.refuse(std::string("a valid hyperparameter ") + option, "none");
    }
    adopt(option, value, stored_value);
  });
  const auto double_dqn = stored.find(member_of(kDoubleOption));
  if (double_dqn == stored.end() || !double_dqn->is_boolean()) {
    reader_.refuse(std::string("a valid hyperparameter ") + kDoubleOption, "none");
  }
  adopt(kDoubleOption, hyper.double_dqn, double_dqn->get<bool>());
}

Normaliser Checkpoint::normaliser() const {
  Normaliser::Values median{};
  Normaliser::Values scale{};
  reader_.read("normaliser.median", {kFeatureDim}, std::span<float>(median));
  reader_.read("normaliser.scale", {kFeatureDim}, std::span<float>(scale));
  try {
    return Normaliser(median, scale);
  } catch (const CheckpointError& error) {
    throw CheckpointError(reader_.file() + ": " + error.what());
  }
}

void Checkpoint::check_data(const Market& market) const {
  const auto data = state_->find("data");
  if (data == state_->end() || !data->is_object()) reader_.refuse("a record of the data", "none");
  const auto fingerprint = member<std::string>(reader_, *data, "fingerprint");
  if (fingerprint == market.fingerprint) return;
  reader_.refuse("the bars it was trained on, " +
                     trainer::quoted(member<std::string>(reader_, *data, "source")) + " with " +
                     std::to_string(member<std::uint64_t>(reader_, *data, "bars")) +
                     " bars, fingerprint " + fingerprint,
                 trainer::quoted(market.source) + " with " + std::to_string(market.bar_count) +
                     " bars, fingerprint " + market.fingerprint);
}

void Checkpoint::restore_network(Learner& learner) const {
  read_block(reader_, "network", learner.shape(), learner.network());
}

void Checkpoint::restore_replay(Agent& agent, const Trading& world) const {
  const TensorShape& shape = reader_.shape_of("replay.reward");
  const std::uint64_t size = shape.size() == 1 ? shape[0] : agent.replay().capacity() + 1;
  const auto head = member<std::uint64_t>(reader_, *state_, "replay_head");
  const std::uint64_t capacity = agent.replay().capacity();
  if (size > capacity || head != (size < capacity ? size : head % capacity)) {
    reader_.refuse("a replay of at most " + std::to_string(capacity) + " transitions",
                   std::to_string(size) + ", head " + std::to_string(head));
  }
  std::vector<std::int32_t> rows(size);
  std::vector<std::int32_t> next_rows(size);
  std::vector<float> rewards(size);
  std::vector<std::uint8_t> actions(size);
  std::vector<std::uint8_t> terminated(size);
  reader_.read("replay.observation", shape, std::span(rows));
  reader_.read("replay.next_observation", shape, std::span(next_rows));
  reader_.read("replay.reward", shape, std::span(rewards));
  reader_.read("replay.action", shape, std::span(actions));
  reader_.read("replay.terminated", shape, std::span(terminated));
  std::vector<Transition> transitions(size);
  const auto row_end = static_cast<std::int64_t>(world.rows().end);
  for (std::size_t slot = 0; slot < size; ++slot) {
    const bool is_inside = rows[slot] >= 0 && rows[slot] < row_end && next_rows[slot] >= 0 &&
                           next_rows[slot] < row_end && actions[slot] < Trading::kActionCount &&
                           std::isfinite(rewards[slot]);
    if (!is_inside) {
      reader_.refuse("rows below " + std::to_string(row_end) + ", actions below 3 and finite " +
                         "rewards in the replay",
                     "others in slot " + std::to_string(slot));
    }
    transitions[slot] = {static_cast<ObservationRow>(rows[slot]),
                         static_cast<ObservationRow>(next_rows[slot]), rewards[slot], actions[slot],
                         terminated[slot] != 0};
  }
  agent.replay().restore(transitions, head);
}

void Checkpoint::restore(Agent& agent, Trading& world, TrainingState& state) const {
  Learner& learner = agent.learner();
  restore_network(learner);
  read_block(reader_, "target", learner.shape(), learner.target());
  read_block(reader_, "adam_first_moment", learner.shape(), learner.adam().first_moment());
  read_block(reader_, "adam_second_moment", learner.shape(), learner.adam().second_moment());
  learner.adam().restore_step_count(member<std::uint64_t>(reader_, *state_, "adam_steps"));
  restore_replay(agent, world);
  agent.restore_counts(member<std::uint64_t>(reader_, *state_, "environment_steps"),
                       member<std::uint64_t>(reader_, *state_, "gradient_steps"));
  agent.exploration().restore(random_state(reader_, *state_, "random_exploration"));
  agent.sampling().restore(random_state(reader_, *state_, "random_replay"));
  const auto row = member<std::uint64_t>(reader_, *state_, "world_row");
  const auto position = member<std::int64_t>(reader_, *state_, "world_position");
  if (row < world.rows().first || row + 1 >= world.rows().end || position < -1 || position > 1) {
    reader_.refuse(
        "a row below " + std::to_string(world.rows().end - 1) + " and a position " + "from -1 to 1",
        std::to_string(row) + " and " + std::to_string(position));
  }
  world.restore(row, static_cast<int>(position));
  state.passes_done = member<std::uint64_t>(reader_, *state_, "passes_done");
  state.pass.learned = member<std::uint64_t>(reader_, *state_, "pass_learned");
  state.pass.reward = member<double>(reader_, *state_, "pass_reward");
  state.pass.loss = member<double>(reader_, *state_, "pass_loss");
  state.pass.value = member<double>(reader_, *state_, "pass_value");
}
}  // namespace drey::trainer
