// window_statistics.hpp: every mean, deviation and covariance over a window that more than one
// feature or a long window needs: one push a bar, read by lane.
// Invariant: a result depends on its window's values alone (moment_bank.hpp says why).
// Read next: pair_bank.hpp, moment_bank.hpp, indicators.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include "trainer/features/close_means.hpp"
#include "trainer/features/history.hpp"
#include "trainer/features/moment_bank.hpp"
#include "trainer/features/pair_bank.hpp"
#include "trainer/features/price_extremes.hpp"
#include "trainer/features/window_math.hpp"

namespace drey::trainer {
/// Lanes of the bank of pairs: x with y. r is the log return, V the volume.
enum PairLane : std::size_t {
  kReturnLag1,      ///< r with r one bar before
  kReturnLag2,      ///< two before
  kReturnLag5,      ///< five before
  kReturnLag10,     ///< ten before
  kSizeLag1,        ///< |r| with |r| one bar before
  kSizeLag5,        ///< five before
  kChangeLag1,      ///< change of the close with the one before
  kCloseIndex,      ///< close with the number of the bar
  kCloseLag1,       ///< close with the close before
  kReturnVolume,    ///< r with ln(V + 1)
  kRootReturn,      ///< sign(r) sqrt(V) with r
  kSignLag1,        ///< sign(r) with the one before
  kVolumeTypical,   ///< V with the typical price
  kTradedIlliquid,  ///< typical price times V with |r| per traded value
  kBalanceSize,     ///< sign(r) V with its size
  kPathVolume,      ///< |change of the close| with V
  kPairLaneCount
};
/// Lanes of the bank of moments.
enum SeriesLane : std::size_t {
  kLogVolume,    ///< ln(V + 1)
  kTwoReturns,   ///< log return over 2 bars
  kFiveReturns,  ///< over 5
  kTenReturns,   ///< over 10
  kSeriesLaneCount
};

struct WindowStatistics {
  PairBank<kPairLaneCount> pairs;
  MomentBank<1> returns;
  MomentBank<kSeriesLaneCount> series;
  CloseMeans closes;
  PriceExtremes prices;

  /// `index` counts bars from 0; `history` includes the bar.
  void push(std::size_t index, const History& history) {
    const double volume = history.volume.newest();
    const double r = history.log_return.newest();
    const double close = history.close.newest();
    const double change = history.close_change.newest();
    const double sign = sign_of(change);
    const double typical = history.typical.newest();
    const auto size_before = [&](std::size_t lag) { return std::abs(history.log_return.ago(lag)); };
    const double illiquidity = ratio_or_zero(std::abs(r), close * volume, kVolumeFloor * close);
    const double balance = sign * volume;
    pairs.push(
        {r, r, r, r, std::abs(r), std::abs(r), change, close, close, r, sign * std::sqrt(volume),
         sign, volume, typical * volume, balance, std::abs(change)},
        {history.log_return.ago(1), history.log_return.ago(2), history.log_return.ago(5),
         history.log_return.ago(10), size_before(1), size_before(5), history.close_change.ago(1),
         static_cast<double>(index), history.close.ago(1), history.log_volume.newest(), r,
         sign_of(history.close_change.ago(1)), typical, illiquidity, std::abs(balance), volume});
    returns.push({r});
    const double log_close = history.log_close.newest();
    series.push({history.log_volume.newest(), log_close - history.log_close.ago(2),
                 log_close - history.log_close.ago(5), log_close - history.log_close.ago(10)});
    closes.push(close);
    prices.push(history.high.newest(), history.low.newest());
  }

  static constexpr double kVolumeFloor = 1e-9;
};
}  // namespace drey::trainer
