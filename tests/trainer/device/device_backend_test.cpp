// device_backend_test.cpp: the learner on the device's kernels, run by the CPU, beside the learner on the
// CPU's own. The queue does nothing before it is waited for (host_queue.hpp), so results that are read
// too soon, or staging memory that is used again too soon, give other numbers.
// SPDX-License-Identifier: MIT
#include "trainer/device/device_backend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "trainer/agent/cpu_learner.hpp"
#include "trainer/device/host_queue.hpp"

namespace drey::trainer {
namespace {
using DeviceLearner = BasicLearner<DeviceBackend<HostQueue>>;
constexpr std::size_t kWidth = 37;
constexpr std::size_t kRows = 500;

/// A table that never changes, and batches of it.
class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed, RandomPurpose::kTest), values_(kRows * kStride) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t at = 0; at < kWidth; ++at) {
        values_[row * kStride + at] = random_.between(-1, 1);
      }
    }
  }
  [[nodiscard]] ObservationTable table(bool is_fixed) const {
    return {values_.data(), kRows, kWidth, kStride, nullptr, is_fixed};
  }
  [[nodiscard]] std::vector<Transition> batch(std::size_t size) {
    std::vector<Transition> drawn(size);
    for (Transition& one : drawn) {
      one = {random_.below(kRows),   random_.below(kRows),
             random_.between(-2, 2), static_cast<Action>(random_.below(3)),
             random_.below(5) == 0,  static_cast<std::uint8_t>(1 + random_.below(3))};
    }
    return drawn;
  }
  [[nodiscard]] std::vector<float> weights(std::size_t size) {
    std::vector<float> drawn(size);
    for (float& weight : drawn) weight = random_.between(0.2f, 1);
    return drawn;
  }

 private:
  static constexpr std::size_t kStride = padded_to_lanes(kWidth);
  Random random_;
  AlignedArray<float> values_;
};

LearnerSettings settings_of(bool is_double, bool dueling, Loss loss) {
  LearnerSettings settings;
  settings.widths = {kWidth, 40, 24, 3};
  settings.batch_size = 33;
  settings.double_dqn = is_double;
  settings.dueling = dueling;
  settings.loss = loss;
  settings.adam.learning_rate = 1e-3f;
  settings.adam.norm_max = 0.5f;
  settings.tau = 0.05f;
  return settings;
}

Random weights_random() {
  return Random(7, RandomPurpose::kWeights);
}

template <class First, class Second>
double largest_difference(const First& first, const Second& second) {
  double largest = 0;
  for (std::size_t at = 0; at < first.size(); ++at) {
    largest = std::max(largest, std::fabs(double{first.data()[at]} - double{second.data()[at]}));
  }
  return largest;
}

struct Form {
  bool is_double, dueling;
  Loss loss;
  bool is_fixed;
};
class DeviceBackendForms : public ::testing::TestWithParam<Form> {};

TEST_P(DeviceBackendForms, LearnAsTheCpuDoesWithinRounding) {
  const LearnerSettings settings =
      settings_of(GetParam().is_double, GetParam().dueling, GetParam().loss);
  CpuLearner on_cpu(settings, weights_random());
  DeviceLearner on_device(settings, weights_random());
  World world(11);
  for (int step = 0; step < 30; ++step) {
    const std::vector<Transition> batch = world.batch(settings.batch_size);
    const std::vector<float> weights = world.weights(settings.batch_size);
    const ObservationTable table = world.table(GetParam().is_fixed);
    const LossReport expected = on_cpu.learn(batch, weights, table);
    const LossReport found = on_device.learn(batch, weights, table);
    ASSERT_NEAR(found.loss, expected.loss, 1e-4) << step;
    ASSERT_NEAR(found.value, expected.value, 1e-4) << step;
    ASSERT_NEAR(found.gradient_norm, expected.gradient_norm, 1e-3) << step;
    ASSERT_LT(largest_difference(on_device.td_errors(), on_cpu.td_errors()), 1e-3) << step;
  }
  EXPECT_LT(largest_difference(on_device.network(), on_cpu.network()), 2e-3);
  EXPECT_LT(largest_difference(on_device.target(), on_cpu.target()), 2e-3);
  const float* const observation = world.table(true).row(5);
  EXPECT_LT(largest_difference(on_device.values_of(observation), on_cpu.values_of(observation)),
            2e-3);
}
INSTANTIATE_TEST_SUITE_P(All, DeviceBackendForms,
                         ::testing::Values(Form{false, false, Loss::kHuber, true},
                                           Form{true, false, Loss::kHuber, true},
                                           Form{true, true, Loss::kHuber, false},
                                           Form{false, true, Loss::kMse, true},
                                           Form{true, false, Loss::kMse, false}));

/// Plays `steps` steps and returns the weights.
std::vector<float> weights_after(DeviceLearner& learner, int steps, bool is_fixed, bool in_halves) {
  World world(12);
  for (int step = 0; step < steps; ++step) {
    const std::vector<Transition> batch = world.batch(learner.settings().batch_size);
    if (!in_halves) {
      learner.learn(batch, {}, world.table(is_fixed));
      continue;
    }
    std::vector<float> rewards, discounts;
    std::vector<Action> actions;
    const ObservationTable table = world.table(false);
    for (std::size_t index = 0; index < batch.size(); ++index) {
      const Transition& one = batch[index];
      rewards.push_back(one.reward);
      actions.push_back(one.action);
      discounts.push_back(
          one.terminated
              ? 0.0f
              : static_cast<float>(std::pow(double{learner.settings().gamma}, double(one.steps))));
      const Columns<float> inputs = learner.inputs();
      std::copy_n(table.row(one.observation), kWidth, inputs.values + index * inputs.stride);
      std::copy_n(table.row(one.next_observation), kWidth,
                  inputs.values + (index + batch.size()) * inputs.stride);
    }
    learner.learn_assembled({rewards, discounts, {}, actions});
  }
  const AlignedArray<float>& block = learner.network();
  return {block.data(), block.data() + block.size()};
}

TEST(DeviceBackend, WholeStepsHalvesAndBothWaysOfGatheringGiveTheSameBits) {
  const LearnerSettings settings = settings_of(true, true, Loss::kHuber);
  DeviceLearner first(settings, weights_random());
  DeviceLearner second(settings, weights_random());
  DeviceLearner third(settings, weights_random());
  const std::vector<float> whole = weights_after(first, 10, true, false);
  EXPECT_EQ(whole, weights_after(second, 10, false, false));
  EXPECT_EQ(whole, weights_after(third, 10, true, true));
}

TEST(DeviceBackend, TakesUpWhatTheHostChangesInABlock) {
  const LearnerSettings settings = settings_of(true, false, Loss::kHuber);
  DeviceLearner learner(settings, weights_random());
  World world(13);
  learner.learn(world.batch(settings.batch_size), {}, world.table(true));
  const std::vector<float> other(learner.network().size(), 0.0f);
  std::copy(other.begin(), other.end(), learner.network().data());
  for (const float value : learner.values_of(world.table(true).row(0))) EXPECT_EQ(value, 0.0f);
  learner.network()[learner.shape().layers().back().bias_offset + 1] = 3.0f;
  EXPECT_EQ(learner.values_of(world.table(true).row(0))[1], 3.0f);
  EXPECT_EQ(learner.best_action(world.table(true).row(0)), 1);
}

TEST(DeviceBackend, AStepOfAFixedTableIsOneCallAndOneWait) {
  const LearnerSettings settings = settings_of(true, false, Loss::kHuber);
  DeviceLearner learner(settings, weights_random());
  World world(14);
  learner.learn(world.batch(settings.batch_size), {}, world.table(true));
  HostQueue& queue = learner.backend().queue();
  const std::size_t waits = queue.wait_count();
  const std::size_t replays = queue.replay_count();
  const std::size_t arrays = queue.array_count();
  for (int step = 0; step < 5; ++step) {
    learner.set_learning_rate(1e-3f / static_cast<float>(step + 1));
    learner.learn(world.batch(settings.batch_size), {}, world.table(true));
  }
  EXPECT_EQ(queue.wait_count() - waits, 5u);
  EXPECT_EQ(queue.replay_count() - replays, 5u);
  EXPECT_EQ(queue.array_count(), arrays);
}

TEST(DeviceBackend, UpdatesTheTargetOnlyWhereItIsDue) {
  LearnerSettings settings = settings_of(true, false, Loss::kHuber);
  settings.target_update = TargetUpdate::kHard;
  settings.target_interval = 3;
  DeviceLearner learner(settings, weights_random());
  World world(15);
  const std::vector<float> before(learner.target().data(),
                                  learner.target().data() + learner.target().size());
  for (int step = 1; step <= 3; ++step) {
    learner.learn(world.batch(settings.batch_size), {}, world.table(true));
    const bool is_as_before = largest_difference(learner.target(), before) == 0;
    const bool is_network = largest_difference(learner.target(), learner.network()) == 0;
    EXPECT_EQ(is_as_before, step < 3) << step;
    EXPECT_EQ(is_network, step == 3) << step;
  }
}

}  // namespace
}  // namespace drey::trainer
