// features.cpp: drives the groups: pushes every bar into each, and lets each write its span.
// SPDX-License-Identifier: MIT
#include "trainer/features/features.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include <drey/base/assert.hpp>

#include "trainer/data/data_fault.hpp"
#include "trainer/features/feature_groups.hpp"

namespace drey::trainer {
namespace {
// Lower median of the steps between successive bars.
std::int64_t median_step_ns(const std::array<Bar, kWarmupBars>& bars) {
  std::array<std::int64_t, kWarmupBars - 1> steps_ns;
  for (std::size_t i = 0; i < steps_ns.size(); ++i)
    steps_ns[i] = bars[i + 1].timestamp_ns - bars[i].timestamp_ns;
  const auto middle = steps_ns.begin() + (steps_ns.size() - 1) / 2;
  std::nth_element(steps_ns.begin(), middle, steps_ns.end());
  return *middle;
}

template <class Group>
void write_group(const Group& group, const BarContext& context, FeatureRow& row) {
  DREY_ASSERT(row.written() == Group::kFirst);
  group.write(context, row);
  DREY_ASSERT(row.written() == Group::kFirst + Group::kCount);
}
}  // namespace

struct FeatureStream::State {
  std::array<Bar, kWarmupBars> warmup;  // until the bar length is known
  std::size_t count = 0;                // bars pushed
  std::int64_t bar_length_ns = 0;
  Bar last{};
  History history;
  WindowStatistics windows;
  Indicators indicators;
  SessionClock clock{1};
  FeatureGroups::State groups;
  FeatureRow writer;
  std::array<float, kFeatureDim> row{};

  void start() {
    bar_length_ns = median_step_ns(warmup);
    clock = SessionClock(bar_length_ns);
    for (std::size_t i = 0; i < kWarmupBars; ++i) take(warmup[i], i, false);
  }

  void take(const Bar& bar, std::size_t index, bool writes) {
    const Bar previous = index == 0 ? bar : last;
    DREY_ASSERT(index == 0 || bar.timestamp_ns > previous.timestamp_ns);
    history.push(bar, previous);
    windows.push(index, history);
    indicators.push(index, history, windows);
    clock.push(bar);
    const BarContext context{bar,     previous, index,      bar_length_ns,
                             history, windows,  indicators, clock.place()};
    std::apply([&](auto&... group) { (group.push(context), ...); }, groups);
    if (writes) write(context);
    last = bar;
  }

  void write(const BarContext& context) {
    writer.begin();
    std::apply([&](auto&... group) { (write_group(group, context, writer), ...); }, groups);
    writer.finish(row.data());
  }
};

FeatureStream::FeatureStream() : state_(std::make_unique<State>()) {}
FeatureStream::~FeatureStream() = default;
FeatureStream::FeatureStream(FeatureStream&&) noexcept = default;
FeatureStream& FeatureStream::operator=(FeatureStream&&) noexcept = default;

bool FeatureStream::push(const Bar& bar) {
  State& state = *state_;
  const std::size_t index = state.count++;
  if (index < kWarmupBars) {
    state.warmup[index] = bar;
    if (index + 1 == kWarmupBars) state.start();
    return false;
  }
  state.take(bar, index, true);
  return true;
}

std::span<const float, kFeatureDim> FeatureStream::row() const {
  DREY_ASSERT(state_->count > kWarmupBars);
  return state_->row;
}

FeatureMatrix compute_features(const BarSeries& series) {
  const std::size_t bar_count = series.bars.size();
  if (bar_count <= kWarmupBars)
    throw_data_error({series.source},
                     "at least " + std::to_string(kWarmupBars + 1) +
                         " bars, as the features need " + std::to_string(kWarmupBars) +
                         " before their first row",
                     std::to_string(bar_count));
  auto matrix = FeatureMatrix::to_be_written(bar_count - kWarmupBars, kWarmupBars);
  FeatureStream stream;
  for (std::size_t i = 0; i < bar_count; ++i) {
    if (!stream.push(series.bars[i])) continue;
    const auto from = stream.row();
    const auto to = matrix.whole_row(i - kWarmupBars);
    std::fill(std::copy(from.begin(), from.end(), to.begin()), to.end(), 0.0F);
  }
  return matrix;
}
}  // namespace drey::trainer
