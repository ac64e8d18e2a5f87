// market.cpp: see market.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/environments/market.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/data_summary.hpp"
#include "trainer/data/error.hpp"
#include "trainer/data/read_bars.hpp"
#include "trainer/data/synthetic_bars.hpp"
#include "trainer/data/time_text.hpp"
#include "trainer/features/features.hpp"
#include "trainer/numeric/hash.hpp"

namespace drey::trainer {
namespace {
constexpr std::string_view kSyntheticPrefix = "synthetic:";
constexpr std::uint64_t kSyntheticRowsMax = 50'000'000;
constexpr std::size_t kRowsPerPartMin = 2;  // one step: a row and the next

/// Reads a whole number up to the end of `text`.
bool read_count(std::string_view text, std::uint64_t& count) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, count);
  return result.ec == std::errc{} && result.ptr == end;
}

BarSeries make_synthetic(std::string_view data) {
  const std::string_view numbers = data.substr(kSyntheticPrefix.size());
  const std::size_t colon = numbers.find(':');
  std::uint64_t rows = 0;
  std::uint64_t seed = 0;
  if (colon == std::string_view::npos || !read_count(numbers.substr(0, colon), rows) ||
      !read_count(numbers.substr(colon + 1), seed) || rows == 0 || rows > kSyntheticRowsMax) {
    throw ConfigError("option --data: expected synthetic:ROWS:SEED with 1 to " +
                      std::to_string(kSyntheticRowsMax) + " rows, found " + trainer::quoted(data));
  }
  return synthetic_bars(rows, seed);
}

std::string fingerprint_of(const BarSeries& series) {
  static_assert(sizeof(Bar) == 48, "no padding: all bytes are data");
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(series.bars)));
  return hash.text();
}

double bars_per_year_of(const BarSeries& series) {
  constexpr double kYearNs = 365.25 * static_cast<double>(kDayNs);
  const std::int64_t span_ns = series.bars.back().timestamp_ns - series.bars.front().timestamp_ns;
  return static_cast<double>(series.bars.size() - 1) / (static_cast<double>(span_ns) / kYearNs);
}

std::vector<double> next_returns_of(const BarSeries& series, const FeatureMatrix& features) {
  std::vector<double> returns(features.rows(), 0.0);
  for (std::size_t row = 0; row + 1 < returns.size(); ++row) {
    const std::size_t bar = features.first_bar() + row;
    returns[row] = std::log(series.bars[bar + 1].close / series.bars[bar].close);
  }
  return returns;
}

void split(Market& market, double validation_fraction) {
  const std::size_t rows = market.features.rows();
  const auto wanted =
      static_cast<std::size_t>(std::llround(static_cast<double>(rows) * validation_fraction));
  const std::size_t first = rows - wanted;
  market.training = {0, first};
  market.validation = {first, rows};
  if (market.training.size() < kRowsPerPartMin || market.validation.size() < kRowsPerPartMin) {
    throw_data_error({market.source}, "bars for 2 rows of training and 2 of validation at least",
                     std::to_string(market.training.size()) + " and " +
                         std::to_string(market.validation.size()) + " (" +
                         std::to_string(market.bar_count) + " bars, of which the first " +
                         std::to_string(kWarmupBars) + " only feed the features)");
  }
}
}  // namespace

Market load_market(const std::string& data, const std::string& symbol, double validation_fraction) {
  const bool is_synthetic = data.rfind(kSyntheticPrefix, 0) == 0;
  const BarSeries series = is_synthetic ? make_synthetic(data) : read_bars(data, {symbol});
  Market market;
  market.source = data;
  market.bar_count = series.bars.size();
  market.features = compute_features(series);
  market.summary = to_text(summarise(series));
  market.fingerprint = fingerprint_of(series);
  market.bars_per_year = bars_per_year_of(series);
  market.next_returns = next_returns_of(series, market.features);
  split(market, validation_fraction);
  return market;
}

void normalise(Market& market, StatesForm form) {
  Normaliser fitted;
  fitted.fit(market.features, market.training.first, market.training.end);
  normalise(market, fitted, form);
}

void normalise(Market& market, const Normaliser& stored, StatesForm form) {
  market.normaliser = stored;
  if (form == StatesForm::kOnce) {
    market.normaliser.apply(market.features);
    return;
  }
  market.raw = std::make_unique<RawStates>(market.features, stored);
  market.features = FeatureMatrix();
}
}  // namespace drey::trainer
