// device_backend.hpp: the learner's numbers on a device. Network, target, moments and, where it is fixed,
// the table of observations stay there; a step sends a few numbers for each transition and gets as many
// back. A whole step is recorded once for each of its forms and put in again by one call.
// The same kernels, in the same order, whatever the queue: host_queue.hpp runs them on the CPU.
// Invariants: those of backend/backend.hpp. Read next: device_layers.hpp, mirror.hpp, queue.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "trainer/backend/backend.hpp"
#include "trainer/device/device_layers.hpp"
#include "trainer/device/loss_kernels.hpp"
#include "trainer/device/mirror.hpp"
#include "trainer/device/step_places.hpp"

namespace drey::trainer {
/// Threads: one at a time. Movable.
template <DeviceQueue Q>
class DeviceBackend {
 public:
  /// Fails: as the queue's construction and memory do.
  explicit DeviceBackend(const BackendPlan& plan) : DeviceBackend(plan, queue_for(plan)) {}
  DeviceBackend(const BackendPlan& plan, std::unique_ptr<Q> queue);

  [[nodiscard]] AlignedArray<float>& network() { return open(network_, host_network_); }
  [[nodiscard]] const AlignedArray<float>& network() const {
    network_.show(*queue_, host_network_);
    return host_network_;
  }
  [[nodiscard]] AlignedArray<float>& target() { return open(target_, host_target_); }
  [[nodiscard]] AlignedArray<float>& gradient() { return open(gradient_, host_gradient_); }
  /// Also brings the moments to the host; what only asks for the step count or sets the rate has calls
  /// of its own.
  [[nodiscard]] Adam& adam() {
    open(first_moment_, adam_.first_moment());
    open(second_moment_, adam_.second_moment());
    return adam_;
  }
  [[nodiscard]] std::uint64_t step_count() const { return adam_.step_count(); }
  void set_learning_rate(float rate) { adam_.set_learning_rate(rate); }

  void gather(std::span<const Transition> batch, const ObservationTable& table);
  /// In staging memory; see inputs_changed().
  [[nodiscard]] Columns<float> inputs() { return {staged_inputs_.data(), input_stride_}; }
  void inputs_changed() { source_ = Source::kStaged; }

  void forward(bool is_double);
  LossReport compute_loss(Loss loss, const BatchTerms& terms);
  [[nodiscard]] std::span<const float> errors() const { return {results_.errors, batch_}; }
  void backward();
  float update(const TargetStep& step);
  /// All of these in one: the same numbers, put in by one call and waited for once.
  LossReport whole_step(bool is_double, Loss loss, const BatchTerms& terms, const TargetStep& step);
  [[nodiscard]] std::span<const float> values_of(const float* observation);
  /// Cost: memory, the first time with so many columns.
  void values_of_many(Columns<const float> observations, std::size_t count,
                      Activations<float>& activations) const;

  [[nodiscard]] std::size_t batch_bytes() const {
    return device_inputs_.bytes() + device_terms_.bytes() + device_results_.bytes() +
           layers_.bytes() + beyond_.bytes() + deltas_.bytes();
  }

  [[nodiscard]] Q& queue() { return *queue_; }

 private:
  /// Where a batch's observations come from.
  enum class Source : std::uint8_t { kStaged, kTable };

  /// On the device of the plan, where a queue can be on one or another.
  [[nodiscard]] static std::unique_ptr<Q> queue_for(const BackendPlan& plan) {
    if constexpr (std::constructible_from<Q, int>) {
      return std::make_unique<Q>(plan.device);
    } else {
      return std::make_unique<Q>();
    }
  }
  AlignedArray<float>& open(Mirror<Q>& mirror, AlignedArray<float>& host) {
    mirror.let_change(*queue_, host);
    return host;
  }
  void make_resident(const ObservationTable& table);
  void send_blocks();
  void stage(const BatchTerms& terms);
  void stage(const TargetStep& step);
  void put_terms() {
    queue_->to_device(device_terms_.data(), staged_terms_.data(), staged_terms_.bytes());
  }
  void put_inputs();
  void put_passes(bool is_double);
  void put_loss(bool is_double, Loss loss);
  void put_gradient();
  void put_update();
  void put_results() {
    queue_->to_host(staged_results_.data(), device_results_.data(), staged_results_.bytes());
  }
  [[nodiscard]] LossReport report() const;
  [[nodiscard]] float norm() const { return static_cast<float>(std::sqrt(squared_norm())); }
  [[nodiscard]] double squared_norm() const;

  std::unique_ptr<Q> queue_;
  NetworkShape shape_;
  std::size_t batch_;
  std::size_t input_stride_;
  AdamSettings settings_;
  // Shown to the host when it asks, also by a const call.
  mutable AlignedArray<float> host_network_;
  AlignedArray<float> host_target_;
  AlignedArray<float> host_gradient_;
  Adam adam_;
  mutable Mirror<Q> network_;
  Mirror<Q> target_;
  Mirror<Q> gradient_;
  Mirror<Q> first_moment_;
  Mirror<Q> second_moment_;
  StagingArray<float, Q> staged_inputs_;
  DeviceArray<float, Q> device_inputs_;  ///< (stride, 2 batch)
  DeviceLayers<Q> layers_;               ///< of the network on them
  DeviceLayers<Q> beyond_;               ///< of the target network on the next observations
  DeviceLayers<Q> deltas_;
  StagingArray<std::byte, Q> staged_terms_;
  DeviceArray<std::byte, Q> device_terms_;
  StagingArray<std::byte, Q> staged_results_;
  DeviceArray<std::byte, Q> device_results_;
  ResultPlaces results_;                  ///< in staging memory
  StagingArray<float, Q> staged_single_;  ///< an observation, then the network's outputs on it
  DeviceArray<float, Q> device_single_;
  DeviceLayers<Q> single_;
  mutable std::size_t many_max_ = 0;  ///< columns of the next two
  mutable DeviceArray<float, Q> many_inputs_;
  mutable std::optional<DeviceLayers<Q>> many_;
  DeviceArray<float, Q> table_;  ///< the fixed table, once one was seen
  ObservationTable resident_;
  Source source_ = Source::kStaged;
  bool is_double_ = false;
  /// By source, double, loss.
  std::array<typename Q::Recording, 8> recordings_;
  std::array<bool, 8> is_recorded_{};
};
}  // namespace drey::trainer

#include "trainer/device/device_backend_steps.hpp"
