// checkpoint_writer.cpp: the writing half of checkpoint.hpp.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <nlohmann/json.hpp>

#include <drey/base/version.hpp>

#include "trainer/program/block_tensors.hpp"
#include "trainer/program/checkpoint.hpp"
#include "trainer/program/checkpoint_format.hpp"
#include "trainer/program/hyperparameters_json.hpp"
#include "trainer/program/replay_tensors.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;

Json to_json(const RandomState& state) {
  return {state.position, state.stream};
}

/// Of each member what is not in tensors.
Json members_json(Agent& agent) {
  Json members = Json::array();
  for (std::size_t index = 0; index < agent.ensemble().count(); ++index) {
    Member& member = agent.ensemble().member(index);
    members.push_back({{"adam_steps", member.learner().step_count()},
                       {"random_replay", to_json(member.sampling().state())}});
  }
  return members;
}

Json state_json(Agent& agent, const TrainingState& state) {
  return {{"environment_steps", agent.environment_steps()},
          {"gradient_steps", agent.gradient_steps()},
          {"members", members_json(agent)},
          {"random_exploration", to_json(agent.exploration().state())},
          {"passes_done", state.passes_done},
          {"pass_steps", state.pass_steps},
          {"pass_reward", state.pass.reward},
          {"pass_episodes", state.pass.episodes},
          {"pass_episode_return", state.pass.episode_return},
          {"pass_learned", state.pass.learning.gradient_steps},
          {"pass_loss", state.pass.learning.loss},
          {"pass_value", state.pass.learning.value},
          {"evaluations", state.evaluations},
          {"evaluations_since_best", state.evaluations_since_best},
          {"best_return", state.best_return}};
}
}  // namespace

std::string checkpoint_contents(const Hyperparameters& hyper, const Problem& problem, Agent& agent,
                                const TrainingState& state) {
  TensorWriter writer;
  for (std::size_t index = 0; index < agent.ensemble().count(); ++index) {
    Learner& learner = agent.ensemble().member(index).learner();
    const std::string prefix = member_prefix(index);
    add_block(writer, prefix + "network", learner.shape(), learner.network());
    add_block(writer, prefix + "target", learner.shape(), learner.target());
    add_block(writer, prefix + "adam_first_moment", learner.shape(), learner.adam().first_moment());
    add_block(writer, prefix + "adam_second_moment", learner.shape(),
              learner.adam().second_moment());
  }
  add_replay(writer, agent);
  problem.save(writer);
  writer.set_metadata("format", kCheckpointFormat);
  writer.set_metadata("version", kVersionText);
  writer.set_metadata("hyperparameters", to_json(hyper).dump());
  writer.set_metadata("state", state_json(agent, state).dump());
  return writer.file_contents();
}
}  // namespace drey::trainer
