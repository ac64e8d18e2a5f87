// device_backend_steps.hpp: the bodies of device_backend.hpp, which includes this.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/device/device_backend.hpp"

namespace drey::trainer {
template <DeviceQueue Q>
DeviceBackend<Q>::DeviceBackend(const BackendPlan& plan, std::unique_ptr<Q> queue)
    : queue_(std::move(queue)),
      shape_(plan.shape),
      batch_(plan.batch_size),
      input_stride_(padded_to_lanes(plan.shape.inputs())),
      settings_(plan.adam),
      host_network_(plan.shape.block_size()),
      host_target_(plan.shape.block_size()),
      host_gradient_(plan.shape.block_size()),
      adam_(plan.adam, plan.shape.block_size()),
      network_(*queue_, plan.shape.block_size()),
      target_(*queue_, plan.shape.block_size()),
      gradient_(*queue_, plan.shape.block_size()),
      first_moment_(*queue_, plan.shape.block_size()),
      second_moment_(*queue_, plan.shape.block_size()),
      staged_inputs_(*queue_, input_stride_ * 2 * batch_),
      device_inputs_(*queue_, input_stride_ * 2 * batch_),
      layers_(*queue_, shape_, 2 * batch_),
      beyond_(*queue_, shape_, batch_),
      deltas_(*queue_, shape_, batch_),
      staged_terms_(*queue_, TermPlaces::bytes(batch_)),
      device_terms_(*queue_, TermPlaces::bytes(batch_)),
      staged_results_(*queue_, ResultPlaces::bytes(batch_)),
      device_results_(*queue_, ResultPlaces::bytes(batch_)),
      results_(ResultPlaces::in(staged_results_.data(), batch_)),
      staged_single_(*queue_, input_stride_ + shape_.layers().back().outputs_padded),
      device_single_(*queue_, input_stride_),
      single_(*queue_, shape_, 1) {
  std::memset(staged_inputs_.data(), 0, staged_inputs_.bytes());
  std::memset(staged_single_.data(), 0, staged_single_.bytes());
}

template <DeviceQueue Q>
void DeviceBackend<Q>::make_resident(const ObservationTable& table) {
  const bool is_resident = resident_.values == table.values && resident_.rows == table.rows;
  if (is_resident) return;
  queue_->wait();
  table_ = DeviceArray<float, Q>(*queue_, table.rows * table.stride);
  queue_->to_device(table_.data(), table.values, table_.bytes());
  resident_ = table;
  is_recorded_.fill(false);  // recordings name the table's address
}

template <DeviceQueue Q>
void DeviceBackend<Q>::gather(std::span<const Transition> batch, const ObservationTable& table) {
  DREY_ASSERT(batch.size() == batch_ && table.width == shape_.inputs());
  if (!table.is_fixed) {
    // What the world still writes cannot stay on the device.
    for (std::size_t index = 0; index < batch_; ++index) {
      const std::size_t bytes = table.width * sizeof(float);
      float* const columns = staged_inputs_.data() + index * input_stride_;
      std::memcpy(columns, table.row(batch[index].observation), bytes);
      std::memcpy(columns + batch_ * input_stride_, table.row(batch[index].next_observation),
                  bytes);
    }
    source_ = Source::kStaged;
    return;
  }
  make_resident(table);
  std::uint32_t* const rows = TermPlaces::in(staged_terms_.data(), batch_).rows;
  for (std::size_t index = 0; index < batch_; ++index) {
    rows[index] = batch[index].observation;
    rows[batch_ + index] = batch[index].next_observation;
  }
  source_ = Source::kTable;
}

template <DeviceQueue Q>
void DeviceBackend<Q>::send_blocks() {
  network_.send(*queue_, host_network_);
  target_.send(*queue_, host_target_);
  gradient_.send(*queue_, host_gradient_);
  first_moment_.send(*queue_, adam_.first_moment());
  second_moment_.send(*queue_, adam_.second_moment());
}

template <DeviceQueue Q>
void DeviceBackend<Q>::stage(const BatchTerms& terms) {
  const TermPlaces places = TermPlaces::in(staged_terms_.data(), batch_);
  for (std::size_t index = 0; index < batch_; ++index) {
    places.actions[index] = terms.actions[index];
    places.rewards[index] = terms.rewards[index];
    places.discounts[index] = terms.discounts[index];
    places.weights[index] = terms.weights.empty() ? 1.0f : terms.weights[index];
  }
}

template <DeviceQueue Q>
void DeviceBackend<Q>::stage(const TargetStep& step) {
  const AdamFactors factors = adam_.next_factors();
  *TermPlaces::in(staged_terms_.data(), batch_).scalars = {factors.rate, factors.root_scale,
                                                           step.is_due ? step.part : 0.0f};
}

template <DeviceQueue Q>
void DeviceBackend<Q>::put_inputs() {
  if (source_ == Source::kStaged) {
    queue_->to_device(device_inputs_.data(), staged_inputs_.data(), device_inputs_.bytes());
    return;
  }
  const TermPlaces places = TermPlaces::in(device_terms_.data(), batch_);
  queue_->template launch<GatherKernel>({table_.data(), resident_.stride, table_.size(),
                                         places.rows, static_cast<std::uint32_t>(2 * batch_),
                                         static_cast<std::uint32_t>(shape_.inputs()),
                                         device_inputs_.data(), input_stride_});
}

template <DeviceQueue Q>
void DeviceBackend<Q>::put_passes(bool is_double) {
  const Columns<const float> inputs = {device_inputs_.data(), input_stride_};
  const Columns<const float> next = {device_inputs_.data() + batch_ * input_stride_, input_stride_};
  put_forward(*queue_, shape_, network_.device(), inputs, is_double ? 2 * batch_ : batch_, layers_);
  put_forward(*queue_, shape_, target_.device(), next, batch_, beyond_);
}

template <DeviceQueue Q>
void DeviceBackend<Q>::put_loss(bool is_double, Loss loss) {
  const TermPlaces terms = TermPlaces::in(device_terms_.data(), batch_);
  const ResultPlaces results = ResultPlaces::in(device_results_.data(), batch_);
  const Columns<float> values = layers_.outputs();
  const float* const valuer = beyond_.outputs().values;
  queue_->template launch<LossKernel>(
      {values.values, is_double ? values.values + batch_ * values.stride : valuer, valuer,
       deltas_.outputs().values, values.stride, deltas_.outputs().stride,
       static_cast<std::uint32_t>(shape_.outputs()), static_cast<std::uint32_t>(batch_),
       terms.rewards, terms.discounts, terms.weights, terms.actions, results.errors, results.losses,
       results.taken, loss == Loss::kHuber});
}

template <DeviceQueue Q>
void DeviceBackend<Q>::put_gradient() {
  const Columns<const float> inputs = {device_inputs_.data(), input_stride_};
  put_backward(*queue_, shape_, network_.device(), inputs, batch_, layers_, deltas_,
               gradient_.device());
}

template <DeviceQueue Q>
void DeviceBackend<Q>::put_update() {
  float* const parts = ResultPlaces::in(device_results_.data(), batch_).norm_parts;
  queue_->template launch<NormKernel>({gradient_.device(), gradient_.size(), parts});
  queue_->template launch<AdamKernel>(
      {network_.device(), gradient_.device(), first_moment_.device(), second_moment_.device(),
       target_.device(), network_.size(), parts,
       TermPlaces::in(device_terms_.data(), batch_).scalars, settings_.beta1, settings_.beta2,
       settings_.epsilon, settings_.norm_max});
}

template <DeviceQueue Q>
void DeviceBackend<Q>::forward(bool is_double) {
  send_blocks();
  put_terms();  // the rows
  put_inputs();
  put_passes(is_double);
  is_double_ = is_double;
  queue_->wait();  // the caller may change inputs() now
}

template <DeviceQueue Q>
LossReport DeviceBackend<Q>::compute_loss(Loss loss, const BatchTerms& terms) {
  stage(terms);
  put_terms();
  put_loss(is_double_, loss);
  put_results();
  queue_->wait();
  return report();
}

template <DeviceQueue Q>
void DeviceBackend<Q>::backward() {
  put_gradient();
  gradient_.device_changes();
}

template <DeviceQueue Q>
float DeviceBackend<Q>::update(const TargetStep& step) {
  queue_->wait();
  send_blocks();  // the gradient may have been changed
  stage(step);
  put_terms();
  put_update();
  put_results();
  for (Mirror<Q>* changed : {&network_, &target_, &first_moment_, &second_moment_}) {
    changed->device_changes();
  }
  queue_->wait();
  adam_.restore_step_count(adam_.step_count() + 1);
  return norm();
}

template <DeviceQueue Q>
LossReport DeviceBackend<Q>::whole_step(bool is_double, Loss loss, const BatchTerms& terms,
                                        const TargetStep& step) {
  send_blocks();
  stage(terms);
  stage(step);
  const std::size_t form =
      (source_ == Source::kTable ? 4 : 0) + (is_double ? 2 : 0) + (loss == Loss::kHuber ? 1 : 0);
  if (!is_recorded_[form]) {
    queue_->begin_recording();
    put_terms();
    put_inputs();
    put_passes(is_double);
    put_loss(is_double, loss);
    put_gradient();
    put_update();
    put_results();
    queue_->end_recording(recordings_[form]);
    is_recorded_[form] = true;
  }
  queue_->replay(recordings_[form]);
  for (Mirror<Q>* changed : {&network_, &target_, &gradient_, &first_moment_, &second_moment_}) {
    changed->device_changes();
  }
  queue_->wait();
  adam_.restore_step_count(adam_.step_count() + 1);
  LossReport done = report();
  done.gradient_norm = static_cast<double>(norm());
  return done;
}

template <DeviceQueue Q>
std::span<const float> DeviceBackend<Q>::values_of(const float* observation) {
  network_.send(*queue_, host_network_);
  std::memcpy(staged_single_.data(), observation, shape_.inputs() * sizeof(float));
  queue_->to_device(device_single_.data(), staged_single_.data(), device_single_.bytes());
  put_forward(*queue_, shape_, network_.device(),
              Columns<const float>{device_single_.data(), input_stride_}, 1, single_);
  float* const outputs = staged_single_.data() + input_stride_;
  queue_->to_host(outputs, single_.outputs().values, shape_.outputs() * sizeof(float));
  queue_->wait();
  return {outputs, shape_.outputs()};
}

template <DeviceQueue Q>
void DeviceBackend<Q>::values_of_many(Columns<const float> observations, std::size_t count,
                                      Activations<float>& activations) const {
  if (count > many_max_) {
    many_inputs_ = DeviceArray<float, Q>(*queue_, count * input_stride_);
    many_.emplace(*queue_, shape_, count);
    many_max_ = count;
  }
  network_.send(*queue_, host_network_);
  for (std::size_t column = 0; column < count; ++column) {
    queue_->to_device(many_inputs_.data() + column * input_stride_,
                      observations.values + column * observations.stride,
                      shape_.inputs() * sizeof(float));
  }
  put_forward(*queue_, shape_, network_.device(),
              Columns<const float>{many_inputs_.data(), input_stride_}, count, *many_);
  const Columns<float> from = many_->outputs();
  const Columns<float> to = activations.outputs();
  for (std::size_t column = 0; column < count; ++column) {
    queue_->to_host(to.values + column * to.stride, from.values + column * from.stride,
                    shape_.layers().back().outputs_padded * sizeof(float));
  }
  queue_->wait();
}

template <DeviceQueue Q>
LossReport DeviceBackend<Q>::report() const {
  LossReport sums;
  for (std::size_t index = 0; index < batch_; ++index) {
    sums.loss += static_cast<double>(results_.losses[index]);
    sums.value += static_cast<double>(results_.taken[index]);
  }
  sums.loss /= static_cast<double>(batch_);
  sums.value /= static_cast<double>(batch_);
  return sums;
}

template <DeviceQueue Q>
double DeviceBackend<Q>::squared_norm() const {
  double sum = 0;
  for (std::uint32_t part = 0; part < kNormParts; ++part) {
    sum += static_cast<double>(results_.norm_parts[part]);
  }
  return sum;
}
}  // namespace drey::trainer
