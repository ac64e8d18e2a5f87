// checkpoint_writer.cpp: the writing half of checkpoint.hpp.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include <drey/base/version.hpp>

#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_format.hpp"
#include "trainer/program/hyperparameters_json.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;

void add_replay(TensorWriter& writer, const ReplayBuffer& replay) {
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> next_rows;
  std::vector<float> rewards;
  std::vector<std::uint8_t> actions;
  std::vector<std::uint8_t> terminated;
  for (const Transition& transition : replay.stored()) {
    rows.push_back(static_cast<std::int32_t>(transition.observation));
    next_rows.push_back(static_cast<std::int32_t>(transition.next_observation));
    rewards.push_back(transition.reward);
    actions.push_back(transition.action);
    terminated.push_back(transition.terminated ? 1 : 0);
  }
  const TensorShape shape = {replay.size()};
  writer.add("replay.observation", shape, std::span<const std::int32_t>(rows));
  writer.add("replay.next_observation", shape, std::span<const std::int32_t>(next_rows));
  writer.add("replay.reward", shape, std::span<const float>(rewards));
  writer.add("replay.action", shape, std::span<const std::uint8_t>(actions));
  writer.add("replay.terminated", shape, std::span<const std::uint8_t>(terminated));
}

Json to_json(const RandomState& state) {
  return {state.position, state.stream};
}

Json state_json(const Market& market, Agent& agent, const Trading& world,
                const TrainingState& state) {
  return {{"data",
           {{"source", market.source},
            {"bars", market.bar_count},
            {"fingerprint", market.fingerprint}}},
          {"environment_steps", agent.environment_steps()},
          {"gradient_steps", agent.gradient_steps()},
          {"adam_steps", agent.learner().adam().step_count()},
          {"replay_head", agent.replay().head()},
          {"random_exploration", to_json(agent.exploration().state())},
          {"random_replay", to_json(agent.sampling().state())},
          {"world_row", world.row()},
          {"world_position", world.position()},
          {"passes_done", state.passes_done},
          {"pass_learned", state.pass.learned},
          {"pass_reward", state.pass.reward},
          {"pass_loss", state.pass.loss},
          {"pass_value", state.pass.value}};
}
}  // namespace

std::string checkpoint_contents(const Hyperparameters& hyper, const Market& market, Agent& agent,
                                const Trading& world, const TrainingState& state) {
  TensorWriter writer;
  Learner& learner = agent.learner();
  add_block(writer, "network", learner.shape(), learner.network());
  add_block(writer, "target", learner.shape(), learner.target());
  add_block(writer, "adam_first_moment", learner.shape(), learner.adam().first_moment());
  add_block(writer, "adam_second_moment", learner.shape(), learner.adam().second_moment());
  writer.add("normaliser.median", {kFeatureDim},
             std::span<const float>(market.normaliser.median()));
  writer.add("normaliser.scale", {kFeatureDim}, std::span<const float>(market.normaliser.scale()));
  add_replay(writer, agent.replay());
  writer.set_metadata("format", kCheckpointFormat);
  writer.set_metadata("version", kVersionText);
  writer.set_metadata("features", feature_names_text());
  writer.set_metadata("hyperparameters", to_json(hyper).dump());
  writer.set_metadata("state", state_json(market, agent, world, state).dump());
  return writer.file_contents();
}
}  // namespace drey::trainer
