// oracle_backend.hpp: a second backend for the same learner: everything in double, plainly, by Eigen
// where it is a product. It stands in for a device: it keeps arrays of its own and shows the host
// copies of them, so a learner that forgot a copy would be found out.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/backend/backend.hpp"
#include "trainer/numeric/network.hpp"

namespace drey::trainer {
class OracleBackend {
 public:
  explicit OracleBackend(const BackendPlan& plan)
      : shape_(plan.shape),
        batch_(plan.batch_size),
        stride_(padded_to_lanes(shape_.inputs())),
        network_(shape_.block_size()),
        target_(shape_.block_size()),
        gradient_(shape_.block_size()),
        first_(shape_.block_size()),
        second_(shape_.block_size()),
        adam_(plan.adam, shape_.block_size()),
        staging_(stride_ * batch_ * 2),
        inputs_(stride_ * batch_ * 2),
        activations_(shape_, 2 * batch_),
        beyond_(shape_, batch_),
        deltas_(shape_, batch_),
        single_(shape_, 1),
        errors_(batch_),
        values_(shape_.outputs()) {}

  AlignedArray<float>& network() { return network_.for_host(); }
  [[nodiscard]] const AlignedArray<float>& network() const { return network_.seen(); }
  AlignedArray<float>& target() { return target_.for_host(); }
  AlignedArray<float>& gradient() { return gradient_.for_host(); }
  Adam& adam() { return adam_; }
  std::uint64_t step_count() const { return adam_.step_count(); }
  void set_learning_rate(float rate) { adam_.set_learning_rate(rate); }

  void gather(std::span<const Transition> batch, const ObservationTable& table) {
    for (std::size_t index = 0; index < batch_; ++index) {
      std::copy_n(table.row(batch[index].observation), table.width, column(index));
      std::copy_n(table.row(batch[index].next_observation), table.width, column(batch_ + index));
    }
  }
  Columns<float> inputs() { return {staging_.data(), stride_}; }
  void inputs_changed() { std::copy_n(staging_.data(), staging_.size(), inputs_.data()); }

  void forward(bool is_double) {
    is_double_ = is_double;
    trainer::forward(shape_, network_.values(), Columns<const double>{inputs_.data(), stride_},
                     is_double ? 2 * batch_ : batch_, activations_);
    trainer::forward(shape_, target_.values(), Columns<const double>{column(batch_), stride_},
                     batch_, beyond_);
  }

  LossReport compute_loss(Loss loss, const BatchTerms& terms) {
    LossReport report;
    const Columns<double> deltas = deltas_.outputs();
    std::fill_n(deltas.values, batch_ * deltas.stride, 0.0);
    const auto size = static_cast<double>(batch_);
    for (std::size_t index = 0; index < batch_; ++index) {
      const double* const next =
          is_double_ ? output(activations_, batch_ + index) : output(beyond_, index);
      const auto best = std::max_element(next, next + shape_.outputs()) - next;
      const double target = terms.rewards[index] + static_cast<double>(terms.discounts[index]) *
                                                       output(beyond_, index)[best];
      const double weight = terms.weights.empty() ? 1.0 : terms.weights[index];
      const double value = output(activations_, index)[terms.actions[index]];
      const double error = value - target;
      const bool is_small = std::fabs(error) <= 1;
      const double huber = is_small ? error * error / 2 : std::fabs(error) - 0.5;
      report.loss += weight * (loss == Loss::kMse ? error * error : huber) / size;
      report.value += value / size;
      deltas.values[index * deltas.stride + terms.actions[index]] =
          weight * (loss == Loss::kMse ? 2 * error : std::clamp(error, -1.0, 1.0)) / size;
      errors_[index] = static_cast<float>(error);
    }
    return report;
  }
  [[nodiscard]] std::span<const float> errors() const { return errors_.span(); }

  void backward() {
    trainer::backward(shape_, network_.values(), Columns<const double>{inputs_.data(), stride_},
                      batch_, activations_, deltas_, gradient_.values_to_write());
  }

  float update(const TargetStep& step) {
    const AdamSettings& by = adam_.settings();
    double squares = 0;
    for (std::size_t place = 0; place < shape_.block_size(); ++place) {
      squares += gradient_.values()[place] * gradient_.values()[place];
    }
    const double norm = std::sqrt(squares);
    const double scale = norm > by.norm_max ? by.norm_max / norm : 1;
    adam_.restore_step_count(adam_.step_count() + 1);
    const auto time = static_cast<double>(adam_.step_count());
    const double beta1 = by.beta1;
    const double beta2 = by.beta2;
    double* const weights = network_.values_to_write();
    for (std::size_t place = 0; place < shape_.block_size(); ++place) {
      const double slope = gradient_.values()[place] * scale;
      first_[place] = beta1 * first_[place] + (1 - beta1) * slope;
      second_[place] = beta2 * second_[place] + (1 - beta2) * slope * slope;
      const double mean = first_[place] / (1 - std::pow(beta1, time));
      const double variance = second_[place] / (1 - std::pow(beta2, time));
      weights[place] -= static_cast<double>(by.learning_rate) * mean /
                        (std::sqrt(variance) + static_cast<double>(by.epsilon));
    }
    if (step.is_due) {
      double* const target = target_.values_to_write();
      const double part = step.part;
      for (std::size_t place = 0; place < shape_.block_size(); ++place) {
        target[place] += part * (weights[place] - target[place]);
      }
    }
    return static_cast<float>(norm);
  }

  std::size_t batch_bytes() const { return 0; }

  void values_of_many(Columns<const float> observations, std::size_t count,
                      Activations<float>& activations) const {
    trainer::forward(shape_, network_.seen().data(), observations, count, activations);
  }

  std::span<const float> values_of(const float* observation) {
    AlignedArray<double> input(stride_);
    std::copy_n(observation, shape_.inputs(), input.data());
    trainer::forward(shape_, network_.values(), Columns<const double>{input.data(), stride_}, 1,
                     single_);
    std::copy_n(single_.outputs().values, values_.size(), values_.data());
    return values_.span();
  }

 private:
  /// A block in double, and the host's copy of it.
  class Block {
   public:
    explicit Block(std::size_t size) : values_(size), host_(size) {}

    AlignedArray<float>& for_host() {
      seen();
      is_host_newer_ = true;
      return host_;
    }
    const AlignedArray<float>& seen() const {
      if (!is_host_newer_) std::copy_n(values_.data(), values_.size(), host_.data());
      return host_;
    }
    const double* values() {
      if (is_host_newer_) std::copy_n(host_.data(), host_.size(), values_.data());
      is_host_newer_ = false;
      return values_.data();
    }
    double* values_to_write() {
      values();
      return values_.data();
    }

   private:
    AlignedArray<double> values_;
    mutable AlignedArray<float> host_;
    bool is_host_newer_ = false;
  };

  double* column(std::size_t index) { return inputs_.data() + index * stride_; }
  static const double* output(Activations<double>& of, std::size_t index) {
    return of.outputs().values + index * of.outputs().stride;
  }

  NetworkShape shape_;
  std::size_t batch_;
  std::size_t stride_;
  Block network_;
  Block target_;
  Block gradient_;
  std::vector<double> first_;
  std::vector<double> second_;
  Adam adam_;
  AlignedArray<float> staging_;
  AlignedArray<double> inputs_;
  bool is_double_ = false;
  Activations<double> activations_;
  Activations<double> beyond_;
  Activations<double> deltas_;
  Activations<double> single_;
  AlignedArray<float> errors_;
  AlignedArray<float> values_;
};
static_assert(Backend<OracleBackend>);
}  // namespace drey::trainer
