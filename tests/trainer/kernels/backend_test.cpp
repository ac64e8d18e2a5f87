// backend_test.cpp: one learner, two backends, every instruction set and precision: equal results.
// Method: the CPU's learner and that of an oracle in double (oracle_backend.hpp) take the same steps
// from the same weights; after each, losses, errors, gradients and weights are compared. Floats must
// agree to rounding; bfloat16 to what an operand's 8 bits leave.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/cpu_learner.hpp"
#include "trainer/data/error.hpp"
#include "trainer/kernels/oracle_backend.hpp"

namespace drey::trainer {
namespace {
using OracleLearner = BasicLearner<OracleBackend>;
constexpr std::size_t kRows = 300;

/// Observations and batches for networks of some width.
class World {
 public:
  World(std::size_t width, std::size_t actions)
      : width_(width),
        stride_(padded_to_lanes(width)),
        actions_(static_cast<std::uint32_t>(actions)),
        random_(test::test_seed(1), RandomPurpose::kTest),
        values_(kRows * stride_) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < width; ++column) {
        values_[row * stride_ + column] = random_.between(-1.5F, 1.5F);
      }
    }
  }

  [[nodiscard]] ObservationTable table() const { return {values_.data(), kRows, width_, stride_}; }
  std::vector<Transition> batch(std::size_t size) {
    std::vector<Transition> drawn(size);
    for (Transition& transition : drawn) {
      transition = {random_.below(kRows), random_.below(kRows), random_.between(-2, 2),
                    static_cast<Action>(random_.below(actions_)), random_.below(5) == 0};
    }
    return drawn;
  }
  std::vector<float> weights(std::size_t size) {
    std::vector<float> drawn(size);
    for (float& weight : drawn) weight = random_.between(0.2F, 1);
    return drawn;
  }

 private:
  std::size_t width_;
  std::size_t stride_;
  std::uint32_t actions_;
  Random random_;
  AlignedArray<float> values_;
};

double length_of(const AlignedArray<float>& block) {
  double squares = 0;
  for (const float value : block.span()) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

/// Length of the difference, in lengths of the second.
double distance(const AlignedArray<float>& one, const AlignedArray<float>& other) {
  double squares = 0;
  for (std::size_t place = 0; place < one.size(); ++place) {
    const double difference = static_cast<double>(one[place]) - static_cast<double>(other[place]);
    squares += difference * difference;
  }
  return std::sqrt(squares) / length_of(other);
}

LearnerSettings settings_of(std::vector<std::size_t> widths, std::size_t batch_size) {
  LearnerSettings settings;
  settings.widths = std::move(widths);
  settings.batch_size = batch_size;
  settings.tau = 0.05F;
  settings.adam.learning_rate = 1e-3F;
  return settings;
}

/// Steps both learners alike. The weights may go apart by `drift` of their length, a gradient from
/// the same weights by `tolerance` of its own.
void expect_same_steps(const LearnerSettings& settings, double tolerance, double drift) {
  World world(settings.widths.front(), settings.widths.back());
  CpuLearner learner(settings, Random(5, RandomPurpose::kWeights));
  OracleLearner oracle(settings, Random(5, RandomPurpose::kWeights));
  for (int step = 0; step < 12; ++step) {
    const std::vector<Transition> batch = world.batch(settings.batch_size);
    const std::vector<float> weights = world.weights(settings.batch_size);
    const LossReport exact = oracle.learn(batch, weights, world.table());
    const LossReport report = learner.learn(batch, weights, world.table());
    ASSERT_NEAR(report.loss, exact.loss, tolerance * (0.1 + exact.loss)) << "step " << step;
    ASSERT_NEAR(report.value, exact.value, tolerance * (0.5 + std::fabs(exact.value)));
    ASSERT_NEAR(report.gradient_norm, exact.gradient_norm, tolerance * exact.gradient_norm);
    ASSERT_LT(distance(learner.gradient(), oracle.gradient()), tolerance) << "step " << step;
    ASSERT_LT(distance(learner.network(), oracle.network()), drift) << "step " << step;
    ASSERT_LT(distance(learner.target(), oracle.target()), drift) << "step " << step;
    for (std::size_t index = 0; index < settings.batch_size; ++index) {
      ASSERT_NEAR(learner.td_errors()[index], oracle.td_errors()[index], 4 * tolerance);
    }
    // On from the same weights, so that an early difference does not count for ever.
    std::ranges::copy(learner.network().span(), oracle.network().data());
    std::ranges::copy(learner.target().span(), oracle.target().data());
  }
  for (const ObservationRow row : {0U, 7U}) {
    const std::span<const float> values = learner.values_of(world.table().row(row));
    const std::span<const float> exact = oracle.values_of(world.table().row(row));
    ASSERT_EQ(values.size(), exact.size());
    for (std::size_t action = 0; action < values.size(); ++action) {
      EXPECT_NEAR(values[action], exact[action], 4 * tolerance);
    }
  }
}

struct WaysToLearn {
  std::vector<std::size_t> widths;
  std::size_t batch_size;
  bool dueling;
  bool double_dqn;
  Loss loss;
};

std::vector<WaysToLearn> all_ways() {
  return {{{225, 128, 64, 3}, 128, false, false, Loss::kHuber},
          {{225, 128, 64, 3}, 31, true, true, Loss::kMse},
          {{225, 128, 64, 3}, 1, false, true, Loss::kHuber},
          {{5, 20, 7, 3}, 31, true, false, Loss::kHuber},
          {{17, 33, 2}, 13, false, true, Loss::kMse},
          {{1, 3}, 2, false, true, Loss::kHuber},
          {{9, 2}, 5, true, true, Loss::kHuber}};
}

class LearnerOnEveryIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!is_supported(GetParam())) GTEST_SKIP() << "this machine has no " << name_of(GetParam());
  }
  [[nodiscard]] LearnerSettings settings(const WaysToLearn& way, Precision precision) const {
    LearnerSettings settings = settings_of(way.widths, way.batch_size);
    settings.dueling = way.dueling;
    settings.double_dqn = way.double_dqn;
    settings.loss = way.loss;
    settings.precision = precision;
    settings.isa = GetParam();
    return settings;
  }
};

class LearnerOnEveryBrainIsa : public LearnerOnEveryIsa {};

TEST_P(LearnerOnEveryIsa, FloatsTakeTheOraclesSteps) {
  for (const WaysToLearn& way : all_ways()) {
    expect_same_steps(settings(way, Precision::kFloat), 2e-5, 1e-4);
    if (HasFatalFailure()) FAIL() << "batch " << way.batch_size << ", inputs " << way.widths[0];
  }
}

TEST_P(LearnerOnEveryBrainIsa, Bfloat16TakesTheOraclesStepsToTwoPercentOfAGradient) {
  for (const WaysToLearn& way : all_ways()) {
    if (way.double_dqn) continue;  // rounding may choose another action: another target
    expect_same_steps(settings(way, Precision::kBrain), 2e-2, 2e-2);
    if (HasFatalFailure()) FAIL() << "batch " << way.batch_size << ", inputs " << way.widths[0];
  }
}

TEST_P(LearnerOnEveryIsa, EqualStepsGiveEqualBitsWhereverMemoryLies) {
  for (const Precision precision : {Precision::kFloat, Precision::kBrain}) {
    if (precision == Precision::kBrain && GetParam() < Isa::kAvx512Bf16) continue;
    const LearnerSettings of_both =
        settings({{225, 128, 64, 3}, 31, true, true, Loss::kHuber}, precision);
    CpuLearner first(of_both, Random(5, RandomPurpose::kWeights));
    const AlignedArray<float> between(1000);
    CpuLearner second(of_both, Random(5, RandomPurpose::kWeights));
    World world(225, 3);
    for (int step = 0; step < 10; ++step) {
      const std::vector<Transition> batch = world.batch(31);
      first.learn(batch, {}, world.table());
      second.learn(batch, {}, world.table());
    }
    for (std::size_t place = 0; place < first.network().size(); ++place) {
      ASSERT_EQ(first.network()[place], second.network()[place]);
    }
  }
}

TEST_P(LearnerOnEveryIsa, ObservationsThatTheHostAssembledAreThoseOfTheRows) {
  for (const Precision precision : {Precision::kFloat, Precision::kBrain}) {
    if (precision == Precision::kBrain && GetParam() < Isa::kAvx512Bf16) continue;
    const LearnerSettings of_both =
        settings({{17, 33, 2}, 13, false, true, Loss::kHuber}, precision);
    CpuLearner by_rows(of_both, Random(5, RandomPurpose::kWeights));
    CpuLearner assembled(of_both, Random(5, RandomPurpose::kWeights));
    World world(17, 2);
    const std::vector<Transition> batch = world.batch(13);
    std::vector<float> rewards;
    std::vector<float> discounts;
    std::vector<Action> actions;
    const Columns<float> inputs = assembled.inputs();
    for (std::size_t index = 0; index < batch.size(); ++index) {
      std::copy_n(world.table().row(batch[index].observation), 17,
                  inputs.values + index * inputs.stride);
      std::copy_n(world.table().row(batch[index].next_observation), 17,
                  inputs.values + (13 + index) * inputs.stride);
      rewards.push_back(batch[index].reward);
      discounts.push_back(batch[index].terminated ? 0.0F : of_both.gamma);
      actions.push_back(batch[index].action);
    }
    by_rows.learn(batch, {}, world.table());
    assembled.learn_assembled({rewards, discounts, {}, actions});
    for (std::size_t place = 0; place < by_rows.network().size(); ++place) {
      ASSERT_EQ(by_rows.network()[place], assembled.network()[place]);
    }
  }
}

TEST_P(LearnerOnEveryIsa, ManyObservationsAtOnceHaveTheValuesOfEachAlone) {
  CpuLearner learner(settings({{17, 33, 2}, 13, true, true, Loss::kHuber}, Precision::kFloat),
                     Random(5, RandomPurpose::kWeights));
  const World world(17, 2);
  Activations<float> activations(learner.shape(), 13);
  learner.values_of_many({world.table().row(0), world.table().stride}, 13, activations);
  const Columns<float> outputs = activations.outputs();
  for (std::size_t index = 0; index < 13; ++index) {
    const std::span<const float> alone =
        learner.values_of(world.table().row(static_cast<ObservationRow>(index)));
    ASSERT_EQ(outputs.values[index * outputs.stride], alone[0]);
    ASSERT_EQ(outputs.values[index * outputs.stride + 1], alone[1]);
  }
}

TEST_P(LearnerOnEveryIsa, WeightsThatTheHostChangedCountAtOnce) {
  for (const Precision precision : {Precision::kFloat, Precision::kBrain}) {
    if (precision == Precision::kBrain && GetParam() < Isa::kAvx512Bf16) continue;
    CpuLearner learner(settings({{17, 33, 2}, 13, false, true, Loss::kHuber}, precision),
                       Random(5, RandomPurpose::kWeights));
    World world(17, 2);
    learner.learn(world.batch(13), {}, world.table());
    const float* const row = world.table().row(0);
    const float before = learner.values_of(row)[1];
    learner.network()[learner.shape().layers().back().bias_offset + 1] += 64;
    EXPECT_NEAR(learner.values_of(row)[1], before + 64, 1e-4F);
    for (float& value : learner.network().span()) value = 0;
    EXPECT_EQ(learner.values_of(row)[1], 0.0F);
  }
}

std::string name_of_parameter(const testing::TestParamInfo<Isa>& parameter) {
  return name_of(parameter.param);
}
INSTANTIATE_TEST_SUITE_P(Kernels, LearnerOnEveryIsa,
                         testing::Values(Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16,
                                         Isa::kAmx),
                         name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, LearnerOnEveryBrainIsa,
                         testing::Values(Isa::kAvx512Bf16, Isa::kAmx), name_of_parameter);

/// The environment variable for the time of a test.
class WithIsaVariable {
 public:
  explicit WithIsaVariable(const char* value) { setenv("DREY_ISA", value, 1); }
  ~WithIsaVariable() { unsetenv("DREY_ISA"); }
  WithIsaVariable(const WithIsaVariable&) = delete;
  WithIsaVariable& operator=(const WithIsaVariable&) = delete;
};

std::string complaint_about(const LearnerSettings& settings) {
  try {
    const CpuLearner learner(settings, Random(5, RandomPurpose::kWeights));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

TEST(Isa, TheVariableChoosesAmongWhatTheMachineHas) {
  const LearnerSettings settings = settings_of({5, 3}, 2);
  for (int index = 0; index < kIsaCount; ++index) {
    const auto isa = static_cast<Isa>(index);
    const WithIsaVariable variable(name_of(isa));
    if (is_supported(isa)) {
      CpuLearner learner(settings, Random(5, RandomPurpose::kWeights));
      EXPECT_EQ(learner.backend().isa(), isa);
    } else {
      EXPECT_NE(complaint_about(settings).find(name_of(isa)), std::string::npos);
    }
  }
  CpuLearner learner(settings, Random(5, RandomPurpose::kWeights));
  EXPECT_EQ(learner.backend().isa(), best_isa());
}

TEST(Isa, AnUnknownNameIsRefusedInOneLineThatNamesTheKnownOnes) {
  for (const char* const name : {"sse9", "", "AVX2", "avx2 "}) {
    const WithIsaVariable variable(name);
    const std::string complaint = complaint_about(settings_of({5, 3}, 2));
    EXPECT_EQ(complaint.find("DREY_ISA: expected one that this machine has: portable"), 0U);
    EXPECT_NE(complaint.find("found '" + std::string(name) + "'"), std::string::npos);
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
  }
}

TEST(Isa, Bfloat16WithoutItsInstructionsIsRefusedInOneLine) {
  const WithIsaVariable variable("portable");
  LearnerSettings settings = settings_of({5, 3}, 2);
  settings.precision = Precision::kBrain;
  EXPECT_EQ(complaint_about(settings),
            "precision bf16: expected instructions for it (avx512bf16), found portable");
}
}  // namespace
}  // namespace drey::trainer
