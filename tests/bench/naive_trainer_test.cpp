// naive_trainer_test.cpp: the naive trainer of the race computes what the learner computes, so that
// their times may be compared; and the race's report says what was measured.
// SPDX-License-Identifier: MIT
#include "steps/naive_trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "steps/step_race.hpp"
#include "support/seed.hpp"
#include "trainer/agent/cpu_learner.hpp"

namespace drey::bench {
namespace {
constexpr std::size_t kWidth = 9;
constexpr std::size_t kStride = 16;
constexpr std::size_t kRows = 50;
constexpr std::size_t kBatch = 16;

std::vector<NaiveLayer> network_of(trainer::CpuLearner& learner) {
  std::vector<NaiveLayer> layers;
  for (const trainer::LayerShape& shape : learner.shape().layers()) {
    NaiveLayer& layer = layers.emplace_back();
    for (std::size_t output = 0; output < shape.outputs; ++output) {
      layer.bias.push_back(learner.network()[shape.bias_offset + output]);
      Row& row = layer.weights.emplace_back();
      for (std::size_t input = 0; input < shape.inputs; ++input) {
        row.push_back(learner.network()[shape.weight(output, input)]);
      }
    }
  }
  return layers;
}

void expect_steps_of_the_learner(bool double_dqn) {
  trainer::Random random(test::test_seed(1), trainer::RandomPurpose::kTest);
  trainer::AlignedArray<float> values(kRows * kStride);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kWidth; ++column) {
      values[row * kStride + column] = random.between(-2, 2);
    }
  }
  trainer::LearnerSettings settings;
  settings.widths = {kWidth, 20, 7, 3};
  settings.batch_size = kBatch;
  settings.double_dqn = double_dqn;
  trainer::CpuLearner learner(settings, trainer::Random(2, trainer::RandomPurpose::kWeights));
  NaiveSettings naive_settings;
  naive_settings.double_dqn = double_dqn;
  NaiveTrainer naive(network_of(learner), naive_settings);
  for (int step = 0; step < 50; ++step) {
    std::vector<trainer::Transition> batch;
    std::vector<NaiveExperience> copies;
    for (std::size_t place = 0; place < kBatch; ++place) {
      const trainer::Transition drawn = {
          random.below(kRows), random.below(kRows), random.between(-3, 3),
          static_cast<trainer::Action>(random.below(3)), random.below(5) == 0};
      const float* const row = values.data() + drawn.observation * kStride;
      const float* const next = values.data() + drawn.next_observation * kStride;
      batch.push_back(drawn);
      copies.push_back({{row, row + kWidth},
                        {next, next + kWidth},
                        drawn.reward,
                        drawn.action,
                        drawn.terminated});
    }
    const double loss = learner.learn(batch, {}, {values.data(), kRows, kWidth, kStride}).loss;
    ASSERT_NEAR(naive.learn(copies), loss, 1e-4 * (1 + loss)) << "step " << step;
  }
  const std::vector<NaiveLayer> learned = network_of(learner);
  for (std::size_t layer = 0; layer < learned.size(); ++layer) {
    for (std::size_t output = 0; output < learned[layer].bias.size(); ++output) {
      EXPECT_NEAR(naive.network()[layer].bias[output], learned[layer].bias[output], 1e-4F);
      for (std::size_t input = 0; input < learned[layer].weights[output].size(); ++input) {
        EXPECT_NEAR(naive.network()[layer].weights[output][input],
                    learned[layer].weights[output][input], 1e-4F);
      }
    }
  }
}

TEST(NaiveTrainer, TakesTheStepsOfTheLearner) {
  expect_steps_of_the_learner(false);
}

TEST(NaiveTrainer, TakesTheStepsOfTheLearnerOfDoubleDqn) {
  expect_steps_of_the_learner(true);
}

TEST(StepRace, ReportsEveryRacerWithItsRounds) {
  StepRacer fast;
  fast.name = "avx2 f32";
  fast.steps_per_second = {3000, 1000, 2000};
  fast.heap_calls = 0;
  fast.phases.gather = 7.5;
  StepRacer naive;
  naive.name = "naive loops";
  naive.has_phases = false;
  naive.steps_per_second = {100, 100, 100};
  StepRaceOptions options;
  options.rounds = 3;
  Machine machine;
  machine.command = "drey-step-race --rounds 3";
  const auto json = nlohmann::json::parse(step_race_json({fast, naive}, options, machine));
  EXPECT_EQ(json["kind"], "steps");
  EXPECT_EQ(json["command"], machine.command);
  EXPECT_EQ(json["racers"][0]["median"], 2000);
  EXPECT_EQ(json["racers"][0]["times_naive"], 20);
  EXPECT_EQ(json["racers"][0]["heap_calls_per_step"], 0);
  EXPECT_EQ(json["racers"][0]["microseconds"]["gather"], 7.5);
  EXPECT_TRUE(json["racers"][1]["heap_calls_per_step"].is_null());
  EXPECT_FALSE(json["racers"][1].contains("microseconds"));
  const std::string text = step_race_text({fast, naive});
  EXPECT_NE(text.find("avx2 f32"), std::string::npos);
  EXPECT_NE(text.find("20.0"), std::string::npos);
}
}  // namespace
}  // namespace drey::bench
