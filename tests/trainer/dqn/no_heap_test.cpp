// no_heap_test.cpp: after warm-up a step makes no heap call.
// Two witnesses: this program's malloc family is counted (bench/counted/), and Eigen itself is
// compiled to abort when it would allocate (EIGEN_RUNTIME_NO_MALLOC).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdlib>
#include <vector>

#include "trainer/agent/agent.hpp"
#include "trainer/agent/evaluation.hpp"
#include "trainer/agent/play.hpp"
#include "trainer/environments/cart_pole.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/features/feature_matrix.hpp"
#include "trainer/program/heap_calls.hpp"

namespace drey::trainer {
namespace {
/// While alive, Eigen aborts the program instead of allocating.
class EigenMustNotAllocate {
 public:
  EigenMustNotAllocate() { Eigen::internal::set_is_malloc_allowed(false); }
  ~EigenMustNotAllocate() { Eigen::internal::set_is_malloc_allowed(true); }
  EigenMustNotAllocate(const EigenMustNotAllocate&) = delete;
  EigenMustNotAllocate& operator=(const EigenMustNotAllocate&) = delete;
};

TEST(HeapCounter, SeesHeapCalls) {
  const std::uint64_t before = heap_calls().value();
  std::free(std::malloc(100));
  std::vector<int> numbers(10);
  EXPECT_GE(heap_calls().value(), before + 3);
}

/// Heap calls of `step_count` steps after `warmup` ones.
template <Environment World>
std::uint64_t heap_calls_of_steps(Agent& agent, World& world, int warmup, int step_count) {
  ObservationRow observation = world.reset(1);
  const auto play = [&](int steps) {
    for (int step = 0; step < steps; ++step) {
      const StepResult result = play_step(agent, world, observation, 1).result;
      observation = result.ended() ? world.reset(1) : result.observation;
    }
  };
  play(warmup);
  const EigenMustNotAllocate witness;
  const std::uint64_t before = heap_calls().value();
  play(step_count);
  return heap_calls().value() - before;
}

TEST(Step, MakesNoHeapCallWhenTrading) {
  for (const bool double_dqn : {true, false}) {
    for (const std::size_t batch_size : {std::size_t{1}, std::size_t{128}, std::size_t{512}}) {
      constexpr std::size_t kRows = 300;
      const FeatureMatrix features(kRows, 0);
      const std::vector<double> returns(kRows, 0.01);
      AgentSettings settings;
      settings.learner.widths = {kFeatureDim, 128, 64, Trading::kActionCount};
      settings.learner.batch_size = batch_size;
      settings.learner.double_dqn = double_dqn;
      settings.learning_starts = 10;
      settings.epsilon = {0.5F, 0.5F, 1};
      Agent agent(settings);
      Trading world({features.data(), kRows, kFeatureDim, kFeatureStride}, returns, {0, kRows},
                    0.001);
      EXPECT_EQ(heap_calls_of_steps(agent, world, 11, 200), 0U) << batch_size;
      EXPECT_GT(agent.gradient_steps(), 200U);

      const EigenMustNotAllocate witness;
      const std::uint64_t before = heap_calls().value();
      const Evaluation evaluation = evaluate(agent.learner(), world, 252);
      EXPECT_EQ(heap_calls().value(), before);
      EXPECT_EQ(evaluation.agent.steps, kRows - 1);
    }
  }
}

TEST(Step, MakesNoHeapCallOnAnyInstructionSet) {
  for (int index = 0; index < kIsaCount; ++index) {
    const auto isa = static_cast<Isa>(index);
    if (!is_supported(isa)) continue;
    AgentSettings settings;
    settings.learner.widths = {4, 64, 31, 2};
    settings.learner.dueling = true;
    settings.learner.batch_size = 33;
    settings.learner.isa = isa;
    settings.learner.precision = isa < Isa::kAvx512Bf16 ? Precision::kFloat : Precision::kBrain;
    settings.learning_starts = 10;
    settings.replay_capacity = 500;
    Agent agent(settings);
    ObservationRing ring(CartPole::kObservationWidth, settings.replay_capacity, 1, 1);
    CartPole world(ring);
    EXPECT_EQ(heap_calls_of_steps(agent, world, 20, 200), 0U) << name_of(isa);
  }
}

/// What differs from run to run of one world.
std::vector<AgentSettings> balancing_settings() {
  AgentSettings plain;
  plain.learner.widths = {4, 64, 64, 2};
  plain.learning_starts = 10;
  plain.replay_capacity = 500;
  std::vector<AgentSettings> all(5, plain);
  all[1].learner.dueling = true;
  all[2].priorities.is_on = true;
  all[3].step_count = 5;
  all[4].learner.dueling = true;
  all[4].learner.loss = Loss::kMse;
  all[4].learner.target_update = TargetUpdate::kHard;
  all[4].learner.target_interval = 10;
  all[4].priorities.is_on = true;
  all[4].step_count = 3;
  all[4].gradient_steps = 2;
  all[4].train_frequency = 3;
  all[4].learning_rate = {1e-3F, 1e-5F, 1000, ScheduleShape::kCosine};
  return all;
}

TEST(Step, MakesNoHeapCallWhenBalancing) {
  for (const AgentSettings& settings : balancing_settings()) {
    Agent agent(settings);
    ObservationRing ring(CartPole::kObservationWidth, settings.replay_capacity, 1,
                         settings.step_count);
    CartPole world(ring);
    EXPECT_EQ(heap_calls_of_steps(agent, world, 20, 700), 0U);
  }
}

TEST(Round, MakesNoHeapCallWithSeveralWorlds) {
  AgentSettings settings = balancing_settings().back();
  settings.world_count = 6;
  Agent agent(settings);
  ObservationRing ring(CartPole::kObservationWidth, settings.replay_capacity, 6,
                       settings.step_count);
  VectorEnvironment<CartPole> worlds(std::vector<CartPole>(6, CartPole(ring)), 1);
  worlds.start();
  RoundBuffers buffers(6);
  RoundTotals totals;
  for (int round = 0; round < 5; ++round) play_round(agent, worlds, 1, buffers, totals);
  const EigenMustNotAllocate witness;
  const std::uint64_t before = heap_calls().value();
  for (int round = 0; round < 200; ++round) play_round(agent, worlds, 1, buffers, totals);
  EXPECT_EQ(heap_calls().value(), before);
  EXPECT_GT(totals.episodes, 10U);
  EXPECT_GT(totals.learning.gradient_steps, 500U);
}
}  // namespace
}  // namespace drey::trainer
