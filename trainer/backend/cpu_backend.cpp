// cpu_backend.cpp: see cpu_backend.hpp. Read next: numeric/kernel_network.cpp, agent/bellman.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/backend/cpu_backend.hpp"

#include <cstring>
#include <string>

#include <drey/base/assert.hpp>

#include "trainer/data/error.hpp"
#include "trainer/numeric/brain_network.hpp"
#include "trainer/numeric/kernel_network.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kRowsAhead = 4;  // whose memory a gather asks for beforehand

/// Room of a pass in floats, or next to none where it is done in bfloat16.
std::size_t float_batch(const BackendPlan& plan, std::size_t batch) {
  return plan.precision == Precision::kFloat ? batch : 1;
}

Columns<const float> columns_from(Columns<float> columns, std::size_t first) {
  return {columns.values + first * columns.stride, columns.stride};
}

Isa isa_for(const BackendPlan& plan) {
  const Isa isa = plan.isa ? *plan.isa : chosen_isa();
  if (plan.precision == Precision::kBrain && isa < Isa::kAvx512Bf16) {
    throw ConfigError(std::string("precision bf16: expected instructions for it (") +
                      name_of(Isa::kAvx512Bf16) + "), found " + name_of(isa));
  }
  return isa;
}

void ask_for(const float* row, std::size_t width) {
  for (std::size_t place = 0; place < width; place += kLaneCount) __builtin_prefetch(row + place);
}

/// Calls use(column, row) for all observations of a batch, rows further on being fetched meanwhile.
template <class Use>
void for_each_row(std::span<const Transition> batch, const ObservationTable& table, Use use) {
  for (std::size_t index = 0; index < batch.size(); ++index) {
    if (index + kRowsAhead < batch.size()) {
      const Transition& later = batch[index + kRowsAhead];
      ask_for(table.row(later.observation), table.width);
      ask_for(table.row(later.next_observation), table.width);
    }
    use(index, table.row(batch[index].observation));
    use(batch.size() + index, table.row(batch[index].next_observation));
  }
}
}  // namespace

/// What kBrain has beside the floats.
struct BrainParts {
  BrainParts(const NetworkShape& shape, std::size_t batch)
      : network(shape),
        target(shape),
        inputs(brain_columns(shape.inputs(), 2 * batch)),
        observation(brain_columns(shape.inputs(), 1)),
        activations(shape, 2 * batch),
        beyond(shape, batch),
        single(shape, 1),
        backward(shape, batch) {}

  BrainWeights network;
  BrainWeights target;
  bool are_stale = true;  ///< someone may have changed the floats
  BrainColumns inputs;
  BrainColumns observation;
  BrainActivations activations;
  BrainActivations beyond;
  BrainActivations single;
  BrainBackward backward;
};

CpuBackend::CpuBackend(const BackendPlan& plan)
    : shape_(plan.shape),
      batch_(plan.batch_size),
      isa_(isa_for(plan)),
      kernels_(&kernels_of(isa_)),
      input_stride_(padded_to_lanes(shape_.inputs())),
      network_(shape_.block_size()),
      target_(shape_.block_size()),
      gradient_(shape_.block_size()),
      adam_(plan.adam, shape_.block_size(), *kernels_),
      inputs_(input_stride_ * batch_ * 2),
      activations_(shape_, float_batch(plan, batch_ * 2)),
      beyond_(shape_, float_batch(plan, batch_)),
      deltas_(shape_, float_batch(plan, batch_)),
      single_(shape_, 1),
      transposed_(transposed_size(shape_)),
      targets_(batch_),
      errors_(batch_) {
  if (plan.precision == Precision::kBrain) {
    brain_ = std::make_unique<BrainParts>(shape_, batch_);
  }
}

CpuBackend::~CpuBackend() = default;
CpuBackend::CpuBackend(CpuBackend&&) noexcept = default;
CpuBackend& CpuBackend::operator=(CpuBackend&&) noexcept = default;

AlignedArray<float>& CpuBackend::network() {
  if (brain_) brain_->are_stale = true;
  return network_;
}

AlignedArray<float>& CpuBackend::target() {
  if (brain_) brain_->are_stale = true;
  return target_;
}

void CpuBackend::refresh_rounded() {
  if (!brain_->are_stale) return;
  brain_->network.assign(*kernels_, shape_, network_.data());
  brain_->target.assign(*kernels_, shape_, target_.data());
  brain_->are_stale = false;
}

void CpuBackend::gather(std::span<const Transition> batch, const ObservationTable& table) {
  DREY_ASSERT(batch.size() == batch_ && table.width == shape_.inputs());
  const std::size_t width = table.width;
  if (brain_) {
    for_each_row(batch, table, [&](std::size_t column, const float* row) {
      kernels_->round(row, brain_->inputs.column(column), width);
    });
  } else {
    for_each_row(batch, table, [&](std::size_t column, const float* row) {
      std::memcpy(inputs_.data() + column * input_stride_, row, width * sizeof(float));
    });
  }
}

void CpuBackend::inputs_changed() {
  if (!brain_) return;
  for (std::size_t column = 0; column < 2 * batch_; ++column) {
    kernels_->round(inputs_.data() + column * input_stride_, brain_->inputs.column(column),
                    shape_.inputs());
  }
}

void CpuBackend::forward(bool is_double) {
  is_double_ = is_double;
  // The network is asked about the next observations too: as one product twice as wide.
  const std::size_t width = is_double ? 2 * batch_ : batch_;
  if (brain_) {
    refresh_rounded();
    trainer::forward(*kernels_, shape_, network_.data(), brain_->network, brain_->inputs, 0, width,
                     brain_->activations);
    trainer::forward(*kernels_, shape_, target_.data(), brain_->target, brain_->inputs, batch_,
                     batch_, brain_->beyond);
    return;
  }
  trainer::forward(*kernels_, shape_, network_.data(), columns_from(inputs(), 0), width,
                   activations_);
  trainer::forward(*kernels_, shape_, target_.data(), columns_from(inputs(), batch_), batch_,
                   beyond_);
}

Columns<float> CpuBackend::outputs() {
  return brain_ ? brain_->activations.outputs() : activations_.outputs();
}

Columns<float> CpuBackend::target_outputs() {
  return brain_ ? brain_->beyond.outputs() : beyond_.outputs();
}

Columns<float> CpuBackend::output_deltas() {
  return brain_ ? brain_->backward.output_deltas() : deltas_.outputs();
}

LossReport CpuBackend::compute_loss(Loss loss, const BatchTerms& terms) {
  const Columns<const float> valuer = columns_from(target_outputs(), 0);
  const Columns<const float> chooser = is_double_ ? columns_from(outputs(), batch_) : valuer;
  bellman_targets(terms, shape_.outputs(), chooser, valuer, targets_.span());
  return trainer::compute_loss(loss, terms, columns_from(outputs(), 0), targets_.span(),
                               output_deltas(), errors_.span());
}

void CpuBackend::backward() {
  if (brain_) {
    brain_->backward.run(*kernels_, shape_, network_.data(), brain_->inputs, brain_->activations,
                         gradient_.data());
    return;
  }
  trainer::backward(*kernels_, shape_, network_.data(), columns_from(inputs(), 0), batch_,
                    activations_, deltas_, transposed_, gradient_.data());
}

float CpuBackend::update(const TargetStep& step) {
  TargetBlend blend;
  if (step.is_due) blend = {target_.data(), step.part};
  const float norm = adam_.step(network_.data(), gradient_.data(), blend);
  if (brain_) {
    const bool target_was_changed_by_host = brain_->are_stale;
    brain_->network.assign(*kernels_, shape_, network_.data());
    if (step.is_due || target_was_changed_by_host) {
      brain_->target.assign(*kernels_, shape_, target_.data());
    }
    brain_->are_stale = false;
  }
  return norm;
}

void CpuBackend::values_of_many(Columns<const float> observations, std::size_t count,
                                Activations<float>& activations) const {
  trainer::forward(*kernels_, shape_, network_.data(), observations, count, activations);
}

std::span<const float> CpuBackend::values_of(const float* observation) {
  if (brain_) {
    refresh_rounded();
    kernels_->round(observation, brain_->observation.column(0), shape_.inputs());
    trainer::forward(*kernels_, shape_, network_.data(), brain_->network, brain_->observation, 0, 1,
                     brain_->single);
    return {brain_->single.outputs().values, shape_.outputs()};
  }
  trainer::forward(*kernels_, shape_, network_.data(),
                   Columns<const float>{observation, input_stride_}, 1, single_);
  return {single_.outputs().values, shape_.outputs()};
}
}  // namespace drey::trainer
