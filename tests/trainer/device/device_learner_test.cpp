// device_learner_test.cpp: the learner of --device cuda, all of it, beside the CPU's: on the device that is
// here, or on the simulated one where DREY_CUDA_LIBRARY names libsimcuda.so. SKIPPED without either.
// The tolerances are those of sums in another order and of products merged with them.
// SPDX-License-Identifier: MIT
#include "trainer/device/device_learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "trainer/device/driver_session.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kWidth = 225;
constexpr std::size_t kRows = 300;
constexpr std::size_t kStride = padded_to_lanes(kWidth);

struct Form {
  bool is_double, dueling;
  Loss loss;
  bool is_fixed;
};

class DeviceLearner : public ::testing::TestWithParam<Form> {
 protected:
  DeviceLearner() : values_(kRows * kStride) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t at = 0; at < kWidth; ++at) {
        values_[row * kStride + at] = random_.between(-1, 1);
      }
    }
  }
  void SetUp() override {
    try {
      require_device(0);
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "SKIPPED: " << error.what();
    }
  }
  [[nodiscard]] ObservationTable table() const {
    return {values_.data(), kRows, kWidth, kStride, nullptr, GetParam().is_fixed};
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
  static LearnerSettings settings() {
    LearnerSettings settings;
    settings.widths = {kWidth, 128, 64, 3};
    settings.batch_size = 32;
    settings.double_dqn = GetParam().is_double;
    settings.dueling = GetParam().dueling;
    settings.loss = GetParam().loss;
    settings.adam.learning_rate = 1e-3f;
    settings.adam.norm_max = 0.5f;
    settings.tau = 0.05f;
    return settings;
  }

  Random random_{11, RandomPurpose::kTest};
  AlignedArray<float> values_;
};

template <class First, class Second>
double largest_difference(const First& first, const Second& second) {
  double largest = 0;
  for (std::size_t at = 0; at < first.size(); ++at) {
    largest = std::max(largest, std::fabs(double{first.data()[at]} - double{second.data()[at]}));
  }
  return largest;
}

/// What the simulated device has to complain of; nothing of a real one.
std::string hazards() {
  const char* const named = std::getenv("DREY_CUDA_LIBRARY");
  void* const library = named != nullptr ? ::dlopen(named, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return {};
  using Hazards = std::size_t (*)(char*, std::size_t);
  const auto ask = reinterpret_cast<Hazards>(::dlsym(library, "drey_sim_hazards"));
  char text[2000] = {};
  const bool has_some = ask != nullptr && ask(text, sizeof(text)) != 0;
  ::dlclose(library);
  return has_some ? text : "";
}

TEST_P(DeviceLearner, LearnsAsTheCpusDoesWithinRounding) {
  const std::unique_ptr<Learner> on_cpu =
      make_cpu_learner(settings(), Random(7, RandomPurpose::kWeights));
  const std::unique_ptr<Learner> on_device =
      make_device_learner(settings(), Random(7, RandomPurpose::kWeights));
  std::vector<float> weights(settings().batch_size);
  for (int step = 0; step < 20; ++step) {
    const std::vector<Transition> drawn = batch(weights.size());
    for (float& weight : weights) weight = random_.between(0.2f, 1);
    const LossReport expected = on_cpu->learn(drawn, weights, table());
    const LossReport found = on_device->learn(drawn, weights, table());
    ASSERT_NEAR(found.loss, expected.loss, 1e-4) << step;
    ASSERT_NEAR(found.value, expected.value, 1e-4) << step;
    ASSERT_NEAR(found.gradient_norm, expected.gradient_norm, 1e-3) << step;
    ASSERT_LT(largest_difference(on_device->td_errors(), on_cpu->td_errors()), 1e-3) << step;
  }
  EXPECT_EQ(on_device->step_count(), 20u);
  EXPECT_LT(largest_difference(on_device->network(), on_cpu->network()), 2e-3);
  EXPECT_LT(largest_difference(on_device->target(), on_cpu->target()), 2e-3);
  EXPECT_LT(largest_difference(on_device->adam().first_moment(), on_cpu->adam().first_moment()),
            1e-3);
  Activations<float> expected(on_cpu->shape(), 5);
  Activations<float> found(on_cpu->shape(), 5);
  on_cpu->values_of_many({values_.data(), kStride}, 5, expected);
  on_device->values_of_many({values_.data(), kStride}, 5, found);
  for (std::size_t column = 0; column < 5; ++column) {
    for (std::size_t action = 0; action < 3; ++action) {
      EXPECT_NEAR(found.outputs().values[column * found.outputs().stride + action],
                  expected.outputs().values[column * expected.outputs().stride + action], 2e-3);
    }
  }
  EXPECT_EQ(hazards(), "");
}

INSTANTIATE_TEST_SUITE_P(Forms, DeviceLearner,
                         ::testing::Values(Form{false, false, Loss::kHuber, true},
                                           Form{true, true, Loss::kHuber, true},
                                           Form{true, false, Loss::kMse, false}));
}  // namespace
}  // namespace drey::trainer
