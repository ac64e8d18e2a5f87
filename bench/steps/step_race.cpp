// step_race.cpp: see step_race.hpp.
// Method: the network 225-128-64-3 and batches of 128 drawn from 20,000 rows; per round every racer
// runs for as long, in an order that rotates, so that a busy moment of the machine meets all of them.
// SPDX-License-Identifier: MIT
#include "steps/step_race.hpp"

#include <ctime>
#include <memory>

#include "race/error.hpp"
#include "steps/guest.hpp"
#include "steps/naive_trainer.hpp"
#include "trainer/agent/cpu_learner.hpp"
#include "trainer/numeric/isa.hpp"
#include "trainer/program/heap_calls.hpp"

namespace drey::bench {
namespace {
using trainer::Transition;
constexpr std::size_t kWidth = 225;
constexpr std::size_t kStride = 240;
constexpr std::size_t kRows = 20000;
constexpr std::size_t kBatch = 128;
constexpr std::size_t kBatches = 64;

/// CPU time of this thread in microseconds: other programs' turns do not count.
double microseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Data {
  Data() : random(1, trainer::RandomPurpose::kTest), values(kRows * kStride) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kWidth; ++column) {
        values[row * kStride + column] = random.between(-2, 2);
      }
    }
    for (std::size_t index = 0; index < kBatches; ++index) {
      std::vector<Transition>& batch = batches.emplace_back();
      for (std::size_t place = 0; place < kBatch; ++place) {
        const std::uint32_t row = random.below(kRows - 1);
        batch.push_back({row, row + 1, random.between(-1, 1),
                         static_cast<trainer::Action>(random.below(3)), false});
      }
    }
  }
  [[nodiscard]] trainer::ObservationTable table() const {
    return {values.data(), kRows, kWidth, kStride};
  }

  trainer::Random random;
  trainer::AlignedArray<float> values;
  std::vector<std::vector<Transition>> batches;
};

trainer::LearnerSettings settings_of(trainer::Isa isa, trainer::Precision precision,
                                     bool double_dqn) {
  trainer::LearnerSettings settings;
  settings.widths = {kWidth, 128, 64, 3};
  settings.batch_size = kBatch;
  settings.double_dqn = double_dqn;
  settings.isa = isa;
  settings.precision = precision;
  return settings;
}

/// One that takes part.
class Contender {
 public:
  explicit Contender(std::string name) { result.name = std::move(name); }
  virtual ~Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  /// Adds a round's figures to the result. Fails: RaceFailed, guests only.
  virtual void run_round(double seconds) = 0;

  StepRacer result;
  std::string refusal;  ///< why it races no more; empty: it does
};

/// One in this process: a step on batch number so and so.
class Stepper : public Contender {
 public:
  using Contender::Contender;

  virtual void step(std::size_t batch) = 0;
  virtual void measure_parts() {}

  void run_round(double seconds) final {
    step(0);  // warm
    const std::uint64_t heap_before = trainer::heap_calls().value_or(0);
    const double began = microseconds_now();
    std::size_t steps = 0;
    double taken = 0;
    while (taken < seconds * 1e6) {
      for (int time = 0; time < 8; ++time) step(steps++);
      taken = microseconds_now() - began;
    }
    result.steps_per_second.push_back(static_cast<double>(steps) / taken * 1e6);
    if (trainer::heap_calls()) {
      const std::uint64_t calls = *trainer::heap_calls() - heap_before;
      result.heap_calls = static_cast<double>(calls) / static_cast<double>(steps);
    }
    measure_parts();
  }
};

class Guest final : public Contender {
 public:
  Guest(std::string program, bool double_dqn) : Contender("guest"), program_(std::move(program)) {
    result.double_dqn = double_dqn;
    result.is_guest = true;
    result.has_phases = false;
  }

  void run_round(double seconds) override {
    const GuestFigures figures = run_guest(program_, seconds, result.double_dqn);
    result.name = figures.name + (result.double_dqn ? " double" : "");
    result.how = figures.how;
    result.heap_calls = figures.heap_calls;
    result.steps_per_second.push_back(figures.steps_per_second);
  }

 private:
  std::string program_;
};

class Drey final : public Stepper {
 public:
  Drey(const Data& data, const trainer::LearnerSettings& settings)
      : Stepper(name_of_settings(settings)),
        data_(data),
        learner_(settings, trainer::Random(1, trainer::RandomPurpose::kWeights)),
        rewards_(kBatch, 0.5F),
        discounts_(kBatch, 0.99F),
        actions_(kBatch, 1) {
    result.double_dqn = settings.double_dqn;
  }

  void step(std::size_t batch) override {
    learner_.learn(data_.batches[batch % kBatches], {}, data_.table());
  }

  /// The same calls that learn() makes, each timed.
  void measure_parts() override {
    constexpr int kTimes = 200;
    StepPhases& best = result.phases;
    for (int time = 0; time < kTimes; ++time) {
      trainer::CpuBackend& backend = learner_.backend();
      const bool is_double = learner_.settings().double_dqn;
      const std::vector<Transition>& batch =
          data_.batches[static_cast<std::size_t>(time) % kBatches];
      keep_best(best.gather, [&] { backend.gather(batch, data_.table()); });
      keep_best(best.forward, [&] { backend.forward(is_double); });
      keep_best(best.loss, [&] {
        backend.compute_loss(trainer::Loss::kHuber, {rewards_, discounts_, {}, actions_});
      });
      keep_best(best.backward, [&] { backend.backward(); });
      keep_best(best.update, [&] { backend.update({true, 0.001F}); });
      keep_best(result.act, [&] { sink_ = learner_.best_action(data_.table().row(7)); });
    }
  }

 private:
  static std::string name_of_settings(const trainer::LearnerSettings& settings) {
    const bool is_brain = settings.precision == trainer::Precision::kBrain;
    return std::string(name_of(*settings.isa)) + (is_brain ? " bf16" : " f32") +
           (settings.double_dqn ? " double" : "");
  }
  template <class Work>
  static void keep_best(double& best, Work work) {
    const double began = microseconds_now();
    work();
    const double taken = microseconds_now() - began;
    if (best == 0 || taken < best) best = taken;
  }

  const Data& data_;
  trainer::CpuLearner learner_;
  std::vector<float> rewards_;
  std::vector<float> discounts_;
  std::vector<trainer::Action> actions_;
  volatile trainer::Action sink_ = 0;
};

class Naive final : public Stepper {
 public:
  explicit Naive(const Data& data)
      : Stepper("naive loops"), trainer_(first_network(), NaiveSettings()) {
    result.has_phases = false;
    for (const std::vector<Transition>& batch : data.batches) {
      std::vector<NaiveExperience>& copies = batches_.emplace_back();
      for (const Transition& transition : batch) {
        const float* const row = data.table().row(transition.observation);
        const float* const next = data.table().row(transition.next_observation);
        copies.push_back({{row, row + kWidth},
                          {next, next + kWidth},
                          transition.reward,
                          transition.action,
                          false});
      }
    }
  }

  /// As the audited trainer did: the sample is a copy of what is stored.
  void step(std::size_t batch) override {
    const std::vector<NaiveExperience> sample = batches_[batch % kBatches];
    trainer_.learn(sample);
  }

 private:
  static std::vector<NaiveLayer> first_network() {
    trainer::Random random(1, trainer::RandomPurpose::kWeights);
    std::vector<NaiveLayer> layers;
    std::size_t inputs = kWidth;
    for (const std::size_t outputs : {128U, 64U, 3U}) {
      NaiveLayer& layer = layers.emplace_back();
      layer.bias.assign(outputs, 0.0F);
      layer.weights.assign(outputs, Row(inputs));
      for (Row& row : layer.weights) {
        for (float& weight : row) weight = random.between(-0.1F, 0.1F);
      }
      inputs = outputs;
    }
    return layers;
  }

  NaiveTrainer trainer_;
  std::vector<std::vector<NaiveExperience>> batches_;
};

std::vector<std::unique_ptr<Contender>> all_contenders(const Data& data, const std::string& guest) {
  std::vector<std::unique_ptr<Contender>> all;
  for (const bool double_dqn : {false, true}) {
    for (int index = 0; index < trainer::kIsaCount; ++index) {
      const auto isa = static_cast<trainer::Isa>(index);
      if (!is_supported(isa)) continue;
      const auto precision =
          isa < trainer::Isa::kAvx512Bf16 ? trainer::Precision::kFloat : trainer::Precision::kBrain;
      all.push_back(std::make_unique<Drey>(data, settings_of(isa, precision, double_dqn)));
    }
    if (!guest.empty()) all.push_back(std::make_unique<Guest>(guest, double_dqn));
  }
  all.push_back(std::make_unique<Naive>(data));
  return all;
}

}  // namespace

StepRace race_steps(const StepRaceOptions& options) {
  const Data data;
  const std::vector<std::unique_ptr<Contender>> contenders = all_contenders(data, options.guest);
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t place = 0; place < contenders.size(); ++place) {
      const std::size_t turn = (place + static_cast<std::size_t>(round)) % contenders.size();
      Contender& contender = *contenders[turn];
      if (!contender.refusal.empty()) continue;
      try {
        contender.run_round(options.seconds);
      } catch (const RaceFailed& failure) {
        contender.refusal = failure.what();
      }
    }
  }
  StepRace race;
  for (const auto& contender : contenders) {
    if (contender->refusal.empty()) {
      race.racers.push_back(contender->result);
    } else {
      race.refusals.push_back(contender->refusal);
    }
  }
  return race;
}
}  // namespace drey::bench
