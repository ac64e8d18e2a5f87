// market.hpp: bars made ready for training: features, returns, and the split by time.
// Invariants: rows of training come before rows of validation; the normaliser has seen training
// rows only; no reward of training uses a bar of validation.
// Read next: trading.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/environments/environment.hpp"
#include "trainer/environments/raw_states.hpp"
#include "trainer/environments/trading.hpp"
#include "trainer/features/feature_matrix.hpp"
#include "trainer/features/normaliser.hpp"

namespace drey::trainer {
/// Movable; everything that points into it must then be made anew.
struct Market {
  std::string source;   ///< as the user named it
  std::string summary;  ///< one line about the bars
  std::size_t bar_count = 0;
  std::string fingerprint;  ///< hash of all bars: tells files apart
  double bars_per_year = 0;
  FeatureMatrix features;            ///< (rows, 225)
  std::vector<double> next_returns;  ///< log return from a row's bar to the next; 0 for the last
  RowRange training{};
  RowRange validation{};
  Normaliser normaliser;           ///< of the features, once normalise() was called
  std::unique_ptr<RawStates> raw;  ///< instead of the features, where each use converts them

  [[nodiscard]] ObservationTable observations() const {
    if (raw) return raw->table();
    return {features.data(), features.rows(), kFeatureDim, kFeatureStride, nullptr, true};
  }
};

/// Reads `data` (files as read_bars() takes them, or synthetic:ROWS:SEED) and computes features, not
/// yet normalised.
/// Fails: DataError for the file's contents and for too few bars; ConfigError for a `data` of
/// another form of synthetic:.
[[nodiscard]] Market load_market(const std::string& data, const std::string& symbol,
                                 double validation_fraction);

/// Normalises with what the training rows say, or as a checkpoint has stored it. Call once.
void normalise(Market& market, StatesForm form = StatesForm::kOnce);
void normalise(Market& market, const Normaliser& stored, StatesForm form = StatesForm::kOnce);
}  // namespace drey::trainer
