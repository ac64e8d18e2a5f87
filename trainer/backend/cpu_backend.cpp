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

/// Calls use(index, row) for `row_of` each transition, rows further on being fetched meanwhile.
template <class RowOf, class Use>
void for_each_row(std::span<const Transition> batch, const ObservationTable& table, RowOf row_of,
                  Use use) {
  for (std::size_t index = 0; index < batch.size(); ++index) {
    if (index + kRowsAhead < batch.size()) {
      ask_for(table.row(row_of(batch[index + kRowsAhead])), table.width);
    }
    use(index, table.row(row_of(batch[index])));
  }
}

ObservationRow observation_of(const Transition& transition) {
  return transition.observation;
}

ObservationRow next_observation_of(const Transition& transition) {
  return transition.next_observation;
}
}  // namespace

/// What kBrain has beside the floats. A step's memory is larger than the second-level cache if it is
/// not used again: next observations and observations share their columns, one after the other, and
/// all passes their hidden layers.
struct BrainParts {
  BrainParts(const NetworkShape& shape, std::size_t batch)
      : network(shape),
        target(shape),
        inputs(brain_columns(shape.inputs(), batch)),
        observation(brain_columns(shape.inputs(), 1)),
        hidden(shape, batch),
        output_stride(stride_of(shape.layers().back().outputs_padded)),
        outputs(output_stride * batch * 3),
        single(shape, 1),
        backward(shape, batch) {}

  BrainWeights network;
  BrainWeights target;
  bool are_stale = true;             ///< someone may have changed the floats
  std::span<const Transition> rows;  ///< what forward() is to gather; empty: CpuBackend::inputs()
  ObservationTable table;
  BrainColumns inputs;
  BrainColumns observation;
  BrainHidden hidden;
  std::size_t output_stride;
  AlignedArray<float> outputs;  ///< of the network on both kinds, of the target on the next ones
  BrainHidden single;
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
  brain_->network.assign(*kernels_, network_.data());
  brain_->target.assign(*kernels_, target_.data());
  brain_->are_stale = false;
}

void CpuBackend::gather(std::span<const Transition> batch, const ObservationTable& table) {
  DREY_ASSERT(batch.size() == batch_ && table.width == shape_.inputs());
  if (brain_) {
    brain_->rows = batch;
    brain_->table = table;
    return;
  }
  const auto copy_to = [&](std::size_t first) {
    return [this, first, width = table.width](std::size_t index, const float* row) {
      std::memcpy(inputs_.data() + (first + index) * input_stride_, row, width * sizeof(float));
    };
  };
  for_each_row(batch, table, observation_of, copy_to(0));
  for_each_row(batch, table, next_observation_of, copy_to(batch_));
}

void CpuBackend::inputs_changed() {
  if (brain_) brain_->rows = {};
}

void CpuBackend::round_inputs(bool are_next) {
  const auto round = [&](std::size_t index, const float* row) {
    kernels_->round(row, brain_->inputs.column(index), shape_.inputs());
  };
  if (!brain_->rows.empty()) {
    for_each_row(brain_->rows, brain_->table, are_next ? next_observation_of : observation_of,
                 round);
    return;
  }
  const Columns<const float> assembled = columns_from(inputs(), are_next ? batch_ : 0);
  for (std::size_t index = 0; index < batch_; ++index) {
    round(index, assembled.values + index * assembled.stride);
  }
}

void CpuBackend::forward(bool is_double) {
  is_double_ = is_double;
  if (brain_) {
    refresh_rounded();
    const auto pass = [&](const AlignedArray<float>& block, const BrainWeights& weights,
                          Columns<float> to) {
      trainer::forward(*kernels_, shape_, block.data(), weights, brain_->inputs, batch_,
                       brain_->hidden, to);
    };
    round_inputs(true);
    pass(target_, brain_->target, target_outputs());
    if (is_double) {
      const Columns<float> all = outputs();
      pass(network_, brain_->network, {all.values + batch_ * all.stride, all.stride});
    }
    round_inputs(false);  // what backward() wants is left behind
    pass(network_, brain_->network, outputs());
    return;
  }
  // The network is asked about the next observations too: as one product twice as wide.
  trainer::forward(*kernels_, shape_, network_.data(), columns_from(inputs(), 0),
                   is_double ? 2 * batch_ : batch_, activations_);
  trainer::forward(*kernels_, shape_, target_.data(), columns_from(inputs(), batch_), batch_,
                   beyond_);
}

Columns<float> CpuBackend::outputs() {
  if (brain_) return {brain_->outputs.data(), brain_->output_stride};
  return activations_.outputs();
}

Columns<float> CpuBackend::target_outputs() {
  if (!brain_) return beyond_.outputs();
  return {brain_->outputs.data() + 2 * batch_ * brain_->output_stride, brain_->output_stride};
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
    brain_->backward.run(*kernels_, shape_, network_.data(), brain_->inputs, brain_->hidden,
                         gradient_.data());
    return;
  }
  trainer::backward(*kernels_, shape_, network_.data(), columns_from(inputs(), 0), batch_,
                    activations_, deltas_, transposed_, gradient_.data());
}

float CpuBackend::update(const TargetStep& step) {
  TargetBlend blend;
  if (step.is_due) blend = {target_.data(), step.part};
  if (!brain_) return adam_.step(network_.data(), gradient_.data(), blend);
  const float norm = adam_.begin_step(network_.data(), gradient_.data(), blend);
  const bool has_new_target = step.is_due || brain_->are_stale;  // changed by the step or the host
  for (const BlockPiece& piece : brain_->network.pieces()) {
    adam_.sweep(piece.first, piece.size);
    brain_->network.assign(*kernels_, network_.data(), piece);
    if (has_new_target) brain_->target.assign(*kernels_, target_.data(), piece);
  }
  brain_->are_stale = false;
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
    const Columns<float> out = single_.outputs();
    trainer::forward(*kernels_, shape_, network_.data(), brain_->network, brain_->observation, 1,
                     brain_->single, out);
    return {out.values, shape_.outputs()};
  }
  trainer::forward(*kernels_, shape_, network_.data(),
                   Columns<const float>{observation, input_stride_}, 1, single_);
  return {single_.outputs().values, shape_.outputs()};
}
}  // namespace drey::trainer
