// explore.cpp: see simulator.hpp: every answer to every query, depth first, by running again.
// Invariant: run n follows the answers of run n - 1 up to the last "no" that was not tried as "yes".
// SPDX-License-Identifier: MIT
#include <drey/cuda/sim/simulator.hpp>

#include <cstddef>
#include <vector>

namespace drey::cuda::sim {
Explored explore(const Config& config, const std::function<void(Simulator&)>& scenario,
                 std::uint64_t runs_max) {
  Explored explored;
  std::vector<bool> answers;
  while (explored.runs < runs_max) {
    std::size_t asked = 0;
    Config asking = config;
    asking.schedule = Schedule::kAsk;
    asking.ask = [&] {
      if (asked == answers.size()) answers.push_back(false);
      return static_cast<bool>(answers[asked++]);
    };
    {
      Simulator simulator(asking);
      scenario(simulator);
    }
    ++explored.runs;
    answers.resize(asked);
    while (!answers.empty() && answers.back()) answers.pop_back();
    if (answers.empty()) {
      explored.is_complete = true;
      break;
    }
    answers.back() = true;
  }
  return explored;
}
}  // namespace drey::cuda::sim
