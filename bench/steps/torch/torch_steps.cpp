// torch_steps.cpp: drey-step-race-torch, libtorch's gradient steps a second as one JSON object; and
// --check, that they are the steps of the naive trainer.
//
// The step of trainer/agent as one writes it who wants libtorch to be fast: no modules between the
// operators, buffers for the gathered rows, gradients taken over instead of added up, one operator
// for each tensor of the soft update. Index, reward and discount tensors are made before the time
// starts, which drey's racers do within it.
// Invariant: one thread; times are CPU time of the whole process, so no helper is overlooked.
// Read next: ../guest.hpp, which runs this; ../naive_trainer.hpp.
// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "steps/naive_trainer.hpp"

/// Defined in the counted program, null in the other; see bench/counted/.
extern "C" [[gnu::weak]] unsigned long long drey_heap_call_count() noexcept;

namespace drey::bench {
namespace {
constexpr std::int64_t kWidth = 225;
constexpr std::int64_t kRows = 20000;
constexpr std::int64_t kBatch = 128;
constexpr std::size_t kBatches = 64;
constexpr double kWarmSeconds = 0.1;

struct Batch {
  torch::Tensor rows;
  torch::Tensor next_rows;
  torch::Tensor actions;  ///< (batch, 1)
  torch::Tensor rewards;
  torch::Tensor discounts;  ///< gamma; 0 where the episode ended
};

Batch random_batch(double ended_share) {
  const torch::Tensor rows = torch::randint(kRows - 1, {kBatch}, torch::kInt64);
  const torch::Tensor goes_on = torch::rand({kBatch}).ge(ended_share).to(torch::kFloat32);
  return {rows, rows + 1, torch::randint(3, {kBatch, 1}, torch::kInt64),
          torch::rand({kBatch}) * 2 - 1, goes_on * NaiveSettings().gamma};
}

/// Weight, bias, weight, ... of 225-128-64-3.
std::vector<torch::Tensor> random_network() {
  std::vector<torch::Tensor> parameters;
  std::int64_t inputs = kWidth;
  for (const std::int64_t outputs : {128, 64, 3}) {
    parameters.push_back((torch::rand({outputs, inputs}) * 0.2 - 0.1).requires_grad_());
    parameters.push_back(torch::zeros({outputs}).requires_grad_());
    inputs = outputs;
  }
  return parameters;
}

torch::Tensor values_of(const std::vector<torch::Tensor>& network, const torch::Tensor& rows) {
  torch::Tensor values = torch::linear(rows, network[0], network[1]);
  for (std::size_t index = 2; index < network.size(); index += 2) {
    values = torch::linear(values.relu_(), network[index], network[index + 1]);
  }
  return values;
}

class TorchTrainer {
 public:
  TorchTrainer(torch::Tensor table, bool double_dqn)
      : table_(std::move(table)),
        double_dqn_(double_dqn),
        network_(random_network()),
        adam_(network_, torch::optim::AdamOptions(static_cast<double>(settings_.learning_rate))),
        observations_(torch::empty({kBatch, kWidth})),
        next_observations_(torch::empty({kBatch, kWidth})) {
    for (const torch::Tensor& parameter : network_) target_.push_back(parameter.detach().clone());
  }

  /// One gradient step. Returns: the loss.
  double learn(const Batch& batch) {
    torch::index_select_out(observations_, table_, 0, batch.rows);
    torch::index_select_out(next_observations_, table_, 0, batch.next_rows);
    const torch::Tensor targets = targets_of(batch);
    const torch::Tensor values = values_of(network_, observations_).gather(1, batch.actions);
    const torch::Tensor loss = torch::huber_loss(values.squeeze(1), targets);
    for (torch::Tensor& parameter : network_) parameter.mutable_grad().reset();
    loss.backward();
    torch::nn::utils::clip_grad_norm_(network_, static_cast<double>(settings_.norm_max));
    adam_.step();
    const torch::NoGradGuard guard;
    for (std::size_t index = 0; index < target_.size(); ++index) {
      target_[index].lerp_(network_[index], static_cast<double>(settings_.tau));
    }
    return loss.item<double>();
  }

  [[nodiscard]] const std::vector<torch::Tensor>& network() const { return network_; }

 private:
  torch::Tensor targets_of(const Batch& batch) {
    const torch::NoGradGuard guard;
    const torch::Tensor beyond = values_of(target_, next_observations_);
    if (!double_dqn_) return batch.rewards + batch.discounts * beyond.amax(1);
    const torch::Tensor best = values_of(network_, next_observations_).argmax(1, true);
    return batch.rewards + batch.discounts * beyond.gather(1, best).squeeze(1);
  }

  NaiveSettings settings_;
  torch::Tensor table_;
  bool double_dqn_;
  std::vector<torch::Tensor> network_;
  std::vector<torch::Tensor> target_;
  torch::optim::Adam adam_;
  torch::Tensor observations_;
  torch::Tensor next_observations_;
};

Row row_of(const torch::Tensor& values) {
  const torch::Tensor plain = values.detach().contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

std::vector<NaiveLayer> layers_of(const std::vector<torch::Tensor>& network) {
  std::vector<NaiveLayer> layers;
  for (std::size_t index = 0; index < network.size(); index += 2) {
    NaiveLayer& layer = layers.emplace_back();
    layer.bias = row_of(network[index + 1]);
    for (std::int64_t output = 0; output < network[index].size(0); ++output) {
      layer.weights.push_back(row_of(network[index][output]));
    }
  }
  return layers;
}

std::vector<NaiveExperience> experiences_of(const torch::Tensor& table, const Batch& batch) {
  std::vector<NaiveExperience> experiences;
  for (std::int64_t place = 0; place < kBatch; ++place) {
    experiences.push_back({row_of(table[batch.rows[place].item<std::int64_t>()]),
                           row_of(table[batch.next_rows[place].item<std::int64_t>()]),
                           batch.rewards[place].item<float>(),
                           static_cast<std::size_t>(batch.actions[place].item<std::int64_t>()),
                           batch.discounts[place].item<float>() == 0});
  }
  return experiences;
}

/// Returns: the exit code, 1 if a loss or a weight is another than the naive trainer's.
int check(const torch::Tensor& table, bool double_dqn) {
  constexpr int kSteps = 30;
  TorchTrainer trainer(table, double_dqn);
  NaiveSettings settings;
  settings.double_dqn = double_dqn;
  NaiveTrainer naive(layers_of(trainer.network()), settings);
  for (int step = 0; step < kSteps; ++step) {
    const Batch batch = random_batch(0.2);
    const double expected = naive.learn(experiences_of(table, batch));
    const double found = trainer.learn(batch);
    if (std::fabs(found - expected) <= 1e-4 * (1 + expected)) continue;
    std::fprintf(stderr, "drey-step-race-torch: step %d: the naive loss is %g, found %g\n", step,
                 expected, found);
    return 1;
  }
  const std::vector<NaiveLayer> layers = layers_of(trainer.network());
  float apart = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t output = 0; output < layers[layer].bias.size(); ++output) {
      for (std::size_t input = 0; input < layers[layer].weights[output].size(); ++input) {
        apart = std::max(apart, std::fabs(layers[layer].weights[output][input] -
                                          naive.network()[layer].weights[output][input]));
      }
    }
  }
  std::printf("%s DQN: %d steps as the naive trainer's, weights at most %.1e apart\n",
              double_dqn ? "double" : "plain", kSteps, static_cast<double>(apart));
  return apart <= 1e-5F ? 0 : 1;
}

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// OpenBLAS chooses its kernels by the processor, and takes very old ones for those it cannot name.
std::string how_it_multiplies() {
  using CoreName = const char* (*)();
  void* const found = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  if (found == nullptr) return "a BLAS that does not say its kernels";
  return std::string("OpenBLAS with kernels for ") + reinterpret_cast<CoreName>(found)();
}

void measure(const torch::Tensor& table, bool double_dqn, double seconds) {
  std::vector<Batch> batches;
  while (batches.size() < kBatches) batches.push_back(random_batch(0));
  TorchTrainer trainer(table, double_dqn);
  std::size_t steps = 0;
  const auto steps_of = [&](double limit) {
    steps = 0;
    const double began = seconds_now();
    double taken = 0;
    while (taken < limit) {
      for (int time = 0; time < 8; ++time) trainer.learn(batches[steps++ % kBatches]);
      taken = seconds_now() - began;
    }
    return static_cast<double>(steps) / taken;
  };
  steps_of(kWarmSeconds);
  const bool counts = drey_heap_call_count != nullptr;
  const unsigned long long heap_before = counts ? drey_heap_call_count() : 0;
  const double rate = steps_of(seconds);
  std::string heap = "null";
  if (counts) {
    const auto calls = static_cast<double>(drey_heap_call_count() - heap_before);
    heap = std::to_string(calls / static_cast<double>(steps));
  }
  std::printf(
      "{\"name\": \"libtorch %s\", \"how\": \"%s\", \"steps_per_second\": %.3f, "
      "\"heap_calls_per_step\": %s}\n",
      TORCH_VERSION, how_it_multiplies().c_str(), rate, heap.c_str());
}

int run(int argc, char** argv) {
  bool checks = false;
  bool double_dqn = false;
  double seconds = 0.5;
  for (int index = 1; index < argc; ++index) {
    if (std::strcmp(argv[index], "--check") == 0) {
      checks = true;
    } else if (std::strcmp(argv[index], "--double") == 0) {
      double_dqn = true;
    } else if (std::strcmp(argv[index], "--seconds") == 0 && index + 1 < argc) {
      seconds = std::atof(argv[++index]);
    } else {
      std::fprintf(stderr, "drey-step-race-torch: [--check | --seconds X [--double]]\n");
      return 2;
    }
  }
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  torch::manual_seed(1);
  const torch::Tensor table = torch::rand({kRows, kWidth}) * 4 - 2;
  if (checks) return check(table, false) != 0 || check(table, true) != 0 ? 1 : 0;
  measure(table, double_dqn, seconds);
  return 0;
}
}  // namespace
}  // namespace drey::bench

int main(int argc, char** argv) {
  try {
    return drey::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-step-race-torch: %s\n", error.what());
    return 1;
  }
}
