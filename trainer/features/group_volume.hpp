// group_volume.hpp: features 129 to 152: volume against its past, money flow, volume-weighted
// price. All are 0 (or use plain means of price) where nothing trades, as in FX files without
// volume.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/bar_context.hpp"
#include "trainer/features/running_sum_bank.hpp"
#include "trainer/features/smoothing.hpp"
#include "trainer/features/window.hpp"

namespace drey::trainer {
/// How much the log volume differs from the usual at its minute of the day.
/// The usual is the mean over earlier bars of that minute, the last 60 weighing most.
class MinuteProfile {
 public:
  void push(double minute_of_day, double log_volume);
  /// 0 for the first bar of its minute.
  [[nodiscard]] double excess() const { return excess_; }

 private:
  struct Slot {
    double mean = 0.0;
    double count = 0.0;
  };
  std::array<Slot, 1440> slots_{};
  double excess_ = 0.0;
};

class VolumeGroup {
 public:
  static constexpr std::size_t kFirst = 129;
  static constexpr std::size_t kCount = 24;

  void push(const BarContext& context);
  void write(const BarContext& context, FeatureWriter& out) const;

 private:
  void push_flows(const BarContext& context);
  void push_session(const BarContext& context);
  void write_flows(const BarContext& context, FeatureWriter& out) const;
  void write_weighted_price(const BarContext& context, FeatureWriter& out) const;
  void write_indices(const BarContext& context, FeatureWriter& out) const;

  // Lane 0: V with the sign of the close's change, what OBV adds; 1: V times close location, what A/D
  // adds.
  RunningSumBank<2> sums_;
  Window<16> money_up_;    // typical price times V where the typical price rose
  Window<16> money_down_;  // where it fell
  Window<8> vwap_20_;
  Window<16> ease_;
  Window<32> negative_index_;  // r where volume fell, else 0
  Window<32> positive_index_;  // r where volume rose, else 0
  double fast_gap_ = 0.0;      // EMA(3) of A/D minus A/D
  double slow_gap_ = 0.0;      // EMA(10) of A/D minus A/D
  ExponentialMean force_{13};
  double session_traded_ = 0.0;
  double session_volume_ = 0.0;
  double session_typical_ = 0.0;
  double session_bars_ = 0.0;
  MinuteProfile profile_;
};
}  // namespace drey::trainer
