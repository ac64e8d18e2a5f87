// own_environment.cpp: another problem is one class: this file brings one, and the program made of it
// trains, evaluates, saves and resumes like drey-train, with all its options.
//   own_environment --env corridor --epochs 8 --checkpoint-dir agents --per --n-step 3
// The corridor: nine cells, start in the middle; a sign says at which end the prize is. The wrong end
// and fifty steps end the episode too, without it.
// Read next: trainer/environments/environment.hpp, trainer/program/simulated_problem.hpp.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdlib>
#include <vector>

#include "trainer/environments/observation_ring.hpp"
#include "trainer/numeric/random.hpp"
#include "trainer/program/environment_list.hpp"
#include "trainer/program/trainer_main.hpp"

namespace {
using namespace drey::trainer;

class Corridor {
 public:
  static constexpr std::size_t kActionCount = 2;       // left, right
  static constexpr std::size_t kObservationWidth = 2;  // place from -1 to 1, sign
  static constexpr std::size_t kStateSize = 3;  // place, sign, steps: what a checkpoint holds

  explicit Corridor(ObservationRing& ring) : ring_(&ring) {}

  /// Begins an episode; everything random in it comes from the seed.
  ObservationRow reset(std::uint64_t seed) {
    Random random(seed, RandomPurpose::kEnvironment);
    place_ = 0;
    sign_ = random.below(2) == 0 ? -1 : 1;
    steps_ = 0;
    return observe();
  }

  StepResult step(Action action) {
    place_ += action == 1 ? 1 : -1;
    ++steps_;
    const bool is_at_end = std::abs(place_) == kEnd;
    const double reward = place_ == sign_ * kEnd ? 1 : 0;
    return {observe(), reward, is_at_end, !is_at_end && steps_ == kStepsMax};
  }

  [[nodiscard]] ObservationTable observations() const { return ring_->table(); }

  [[nodiscard]] std::array<double, kStateSize> state() const {
    return {static_cast<double>(place_), static_cast<double>(sign_), static_cast<double>(steps_)};
  }
  bool restore(const std::array<double, kStateSize>& state) {
    const auto [place, sign, steps] = state;
    const bool is_state = place > -kEnd && place < kEnd && (sign == -1 || sign == 1) &&
                          steps >= 0 && steps < kStepsMax;
    if (!is_state) return false;
    place_ = static_cast<int>(place);
    sign_ = static_cast<int>(sign);
    steps_ = static_cast<int>(steps);
    return true;
  }

 private:
  static constexpr int kEnd = 4;
  static constexpr int kStepsMax = 50;

  ObservationRow observe() {
    const std::array<float, kObservationWidth> seen = {static_cast<float>(place_) / kEnd,
                                                       static_cast<float>(sign_)};
    return ring_->add(seen);
  }

  ObservationRing* ring_;
  int place_ = 0;
  int sign_ = 1;
  int steps_ = 0;
};
static_assert(SimulatedEnvironment<Corridor>);
}  // namespace

int main(int argc, char** argv) {
  const std::array<EnvironmentEntry, 1> own = {simulated_environment<Corridor>("corridor")};
  if (argc > 1) return trainer_main(argc, argv, own);
  std::vector<const char*> options = {
      argv[0], "--env", "corridor", "--epochs", "8",  "--hidden", "16,16", "--learning-starts",
      "100",   "--lr",  "0.002",    "--batch",  "32", "--tau",    "0.01",  "--reward-scale",
      "1"};
  return trainer_main(static_cast<int>(options.size()), const_cast<char**>(options.data()), own);
}
