// checkpoint_reader.cpp: the reading half of checkpoint.hpp.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "trainer/data/data_fault.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_format.hpp"
#include "trainer/program/hyperparameters_json.hpp"
#include "trainer/program/replay_tensors.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;

/// A member of the checkpoint's state, of the wanted kind.
template <class Value>
Value member(const TensorReader& reader, const Json& state, const char* name) {
  const auto found = state.find(name);
  const bool is_right =
      found != state.end() &&
      (std::is_floating_point_v<Value> ? found->is_number() : found->is_number_unsigned());
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

void check_format(const TensorReader& reader) {
  const std::string& format = reader.metadata("format");
  if (format == kCheckpointFormat) return;
  const bool is_before = format == kCheckpointFormatBefore;
  reader.refuse(
      "format " + trainer::quoted(kCheckpointFormat),
      trainer::quoted(format) +
          (is_before ? ", of a version before this one: train anew, or go on with that one" : ""));
}
}  // namespace

Checkpoint::~Checkpoint() = default;

Checkpoint::Checkpoint(const std::string& path) : reader_(path, read_file(path)) {
  check_format(reader_);
  state_ = std::make_unique<const Json>(Json::parse(reader_.metadata("state"), nullptr, false));
  if (!state_->is_object())
    reader_.refuse("a state in JSON", trainer::quoted(reader_.metadata("state")));
}

void Checkpoint::adopt_hyperparameters(Hyperparameters& hyper, const std::set<std::string>& given,
                                       bool must_agree) const {
  const Json stored = Json::parse(reader_.metadata("hyperparameters"), nullptr, false);
  if (!stored.is_object()) reader_.refuse("hyperparameters in JSON", "something else");
  for_each_hyperparameter(
      hyper, [&](const std::string& option, auto& value, const auto& kind, auto, auto) {
        auto stored_value = value;
        if (!read_member(stored, option, stored_value, kind)) {
          reader_.refuse("a valid hyperparameter " + option, "none");
        }
        if (!given.contains(option)) {
          value = stored_value;
        } else if (must_agree && value != stored_value) {
          reader_.refuse("option " + option + " to be left out or " + text_of(stored_value, kind) +
                             ", as in the run to go on with",
                         text_of(value, kind));
        }
      });
}

void Checkpoint::restore_networks(Agent& agent) const {
  for (std::size_t index = 0; index < agent.ensemble().count(); ++index) {
    Learner& learner = agent.ensemble().member(index).learner();
    read_block(reader_, member_prefix(index) + "network", learner.shape(), learner.network());
  }
}

/// What is beside the networks.
void Checkpoint::restore_members(Agent& agent) const {
  const std::size_t count = agent.ensemble().count();
  const auto members = state_->find("members");
  if (members == state_->end() || !members->is_array() || members->size() != count) {
    reader_.refuse("the states of " + std::to_string(count) + " agents", "none that fit");
  }
  for (std::size_t index = 0; index < count; ++index) {
    Member& target = agent.ensemble().member(index);
    Learner& learner = target.learner();
    const std::string prefix = member_prefix(index);
    read_block(reader_, prefix + "target", learner.shape(), learner.target());
    read_block(reader_, prefix + "adam_first_moment", learner.shape(),
               learner.adam().first_moment());
    read_block(reader_, prefix + "adam_second_moment", learner.shape(),
               learner.adam().second_moment());
    const Json& state = (*members)[index];
    if (!state.is_object()) reader_.refuse("a state of each agent", "something else");
    learner.adam().restore_step_count(member<std::uint64_t>(reader_, state, "adam_steps"));
    target.sampling().restore(random_state(reader_, state, "random_replay"));
  }
}

void Checkpoint::restore_counters(Agent& agent, TrainingState& state) const {
  const auto count = [&](const char* name) {
    return member<std::uint64_t>(reader_, *state_, name);
  };
  const auto real = [&](const char* name) { return member<double>(reader_, *state_, name); };
  agent.restore_counts(count("environment_steps"), count("gradient_steps"));
  agent.exploration().restore(random_state(reader_, *state_, "random_exploration"));
  state.passes_done = count("passes_done");
  state.pass_steps = count("pass_steps");
  state.pass.reward = real("pass_reward");
  state.pass.episodes = count("pass_episodes");
  state.pass.episode_return = real("pass_episode_return");
  state.pass.learning.gradient_steps = count("pass_learned");
  state.pass.learning.loss = real("pass_loss");
  state.pass.learning.value = real("pass_value");
  state.evaluations = count("evaluations");
  state.evaluations_since_best = count("evaluations_since_best");
  state.best_return = real("best_return");
}

void Checkpoint::restore(Agent& agent, Problem& problem, TrainingState& state) const {
  restore_networks(agent);
  restore_members(agent);
  problem.restore(reader_);
  restore_replay(reader_, problem.row_end(), problem.observations(), agent);
  restore_counters(agent, state);
  const std::uint64_t steps = problem.steps_per_pass();
  if (state.pass_steps >= steps || state.pass_steps % agent.settings().world_count != 0) {
    reader_.refuse("a pass of " + std::to_string(steps) + " steps",
                   "one with " + std::to_string(state.pass_steps) + " done");
  }
}
}  // namespace drey::trainer
