// replay_forms_test.cpp: four forms of replay, two of batches and two of states: the same losses and
// weights bit for bit, also where the ring wraps and where it is smaller than a batch.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "support/seed.hpp"
#include "trainer/agent/batch_reader.hpp"
#include "trainer/agent/cpu_learner.hpp"
#include "trainer/agent/draw_strategy.hpp"
#include "trainer/agent/replay_store.hpp"
#include "trainer/environments/raw_states.hpp"

namespace drey::trainer {
namespace {
constexpr ReplayForm kForms[] = {ReplayForm::kIndex, ReplayForm::kPool, ReplayForm::kShared,
                                 ReplayForm::kCopy};
constexpr std::size_t kRows = 400;

/// Rows of features with numbers of all sizes, and the same once normalised.
struct Bars {
  FeatureMatrix raw{kRows, 0};
  Normaliser normaliser;
  FeatureMatrix features{kRows, 0};

  explicit Bars(std::uint64_t seed) {
    Random random(seed, RandomPurpose::kTest);
    for (std::size_t row = 0; row < kRows; ++row) {
      for (float& value : raw.row(row)) value = random.between(-3.0f, 5.0f);
    }
    normaliser.fit(raw, 0, kRows);
    std::memcpy(features.row(0).data(), raw.data(), raw.bytes());
    normaliser.apply(features);
  }
  [[nodiscard]] ObservationTable table() const {
    return {features.data(), kRows, kFeatureDim, kFeatureStride};
  }
};

LearnerSettings small_learner(std::size_t batch) {
  LearnerSettings settings;
  settings.widths = {kFeatureDim, 16, 3};
  settings.batch_size = batch;
  return settings;
}

struct TrainingRun {
  std::vector<double> losses;
  std::vector<float> weights;

  bool operator==(const TrainingRun& other) const {
    return losses.size() == other.losses.size() && weights.size() == other.weights.size() &&
           std::memcmp(losses.data(), other.losses.data(), losses.size() * sizeof(double)) == 0 &&
           std::memcmp(weights.data(), other.weights.data(), weights.size() * sizeof(float)) == 0;
  }
};

Transition transition_at(std::uint32_t row, Random& random) {
  Transition transition{row, row + 1, random.between(-1, 1), static_cast<Action>(random.below(3)),
                        random.below(10) == 0};
  transition.steps = static_cast<std::uint8_t>(1 + random.below(3));
  return transition;
}

/// Plays over the rows and learns after each step.
TrainingRun train(ReplayStore& store, BatchForm batches, std::size_t batch,
                  const ObservationTable& table, std::uint64_t seed) {
  const LearnerSettings settings = small_learner(batch);
  CpuLearner learner(settings, Random(seed, RandomPurpose::kWeights));
  BatchReader reader(batches, batch, settings.gamma);
  Random world(seed, RandomPurpose::kEnvironment);
  Random sampling(seed, RandomPurpose::kReplay);
  std::vector<std::uint32_t> slots(batch);
  TrainingRun run;
  for (std::uint32_t row = 0; row + 1 < kRows; ++row) {
    store.add(transition_at(row, world), table);
    draw_slots(DrawStrategy::kUniform, {store.size(), store.head(), store.capacity()}, sampling,
               slots);
    run.losses.push_back(reader.learn(learner, store, table, slots, {}).loss);
  }
  run.weights.assign(learner.network().span().begin(), learner.network().span().end());
  return run;
}

TEST(ReplayForms, GiveTheSameLossesAndWeightsBitForBit) {
  const std::uint64_t seed = test::test_seed(21);
  const Bars bars(seed);
  for (const std::size_t capacity :
       {std::size_t{1}, std::size_t{5}, std::size_t{100}, std::size_t{1000}}) {
    ReplayStore reference_store(ReplayForm::kIndex, capacity);
    const TrainingRun reference = train(reference_store, BatchForm::kReused, 8, bars.table(), seed);
    ASSERT_TRUE(std::isfinite(reference.losses.back()));
    for (const ReplayForm form : kForms) {
      for (const BatchForm batches : {BatchForm::kReused, BatchForm::kFresh}) {
        ReplayStore store(form, capacity);
        EXPECT_TRUE(train(store, batches, 8, bars.table(), seed) == reference)
            << static_cast<int>(form) << ' ' << static_cast<int>(batches) << ' ' << capacity;
      }
    }
  }
}

TEST(ReplayForms, WithAnotherSeedGiveOthers) {
  const Bars bars(1);
  ReplayStore one(ReplayForm::kPool, 50);
  ReplayStore other(ReplayForm::kPool, 50);
  EXPECT_FALSE(train(one, BatchForm::kReused, 8, bars.table(), 1) ==
               train(other, BatchForm::kReused, 8, bars.table(), 2));
}

TEST(States, ConvertedOnEachUseGiveWhatConvertedOnceGive) {
  const std::uint64_t seed = test::test_seed(22);
  const Bars bars(seed);
  const RawStates raw(bars.raw, bars.normaliser);
  for (const ReplayForm form : kForms) {
    ReplayStore once(form, 64);
    ReplayStore each(form, 64);
    const std::uint64_t before = raw.conversions();
    EXPECT_TRUE(train(once, BatchForm::kReused, 8, bars.table(), seed) ==
                train(each, BatchForm::kReused, 8, raw.table(), seed));
    // By index every draw converts two rows; elsewhere every transition brings two.
    const std::uint64_t uses = (form == ReplayForm::kIndex ? 2 * 8 : 2) * (kRows - 1);
    EXPECT_EQ(raw.conversions() - before, uses);
  }
  EXPECT_EQ(raw.bytes(), kRows * kFeatureDim * sizeof(double));
}

TEST(ReplayForms, RestoredFromTransitionsGiveTheSameObservations) {
  const std::uint64_t seed = test::test_seed(23);
  const Bars bars(seed);
  ReplayStore original(ReplayForm::kIndex, 100);
  train(original, BatchForm::kReused, 8, bars.table(), seed);
  const std::vector<std::uint32_t> slots = {0, 99, 42, 42, 7};
  std::vector<Transition> drawn;
  for (const std::uint32_t slot : slots) drawn.push_back(original.buffer().stored()[slot]);
  std::vector<std::vector<float>> found;
  for (const ReplayForm form : kForms) {
    ReplayStore store(form, 100);
    store.restore(original.buffer().stored(), original.head(), bars.table());
    std::vector<float> rows(slots.size() * 2 * kFeatureDim);
    store.gather({slots, drawn}, bars.table(),
                 {rows.data(), rows.data() + slots.size() * kFeatureDim, kFeatureDim});
    found.push_back(rows);
    EXPECT_EQ(store.head(), original.head());
    EXPECT_EQ(rows[0], bars.table().row(drawn[0].observation)[0]);
  }
  for (const std::vector<float>& rows : found) EXPECT_EQ(rows, found.front());
}

TEST(ReplayForms, TakeTheBytesThatTheirTableSays) {
  const Bars bars(1);
  constexpr std::size_t kCapacity = 200;
  std::vector<double> per_transition;
  for (const ReplayForm form : kForms) {
    ReplayStore store(form, kCapacity);
    train(store, BatchForm::kReused, 1, bars.table(), 1);
    per_transition.push_back(static_cast<double>(store.bytes()) / kCapacity);
  }
  EXPECT_EQ(per_transition[0], 16.0);
  EXPECT_GE(per_transition[1], 16.0 + 16 + 2 * 900);
  EXPECT_LE(per_transition[1], 16.0 + 16 + 2 * 976);  // checked pools have guards
  EXPECT_EQ(per_transition[2], 16.0 + 16 + 16 + 48 + 2 * 900);
  EXPECT_EQ(per_transition[3], 16.0 + 48 + 2 * 900);
}
}  // namespace
}  // namespace drey::trainer
