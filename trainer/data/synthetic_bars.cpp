// synthetic_bars.cpp: see synthetic_bars.hpp. Own generator and own normal deviates, so a seed
// means the same bars with every standard library. Source: splitmix64 (Steele, Lea, Flood 2014,
// "Fast splittable pseudorandom number generators"); Box and Muller 1958 for the normal deviates.
// SPDX-License-Identifier: MIT
#include "trainer/data/synthetic_bars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

namespace drey::trainer {
namespace {
constexpr std::int64_t kFirstMondayNs = 1'420'416'000 * kSecondNs;  // 2015-01-05T00:00:00Z
constexpr std::int64_t kSessionOpenNs = 14 * kHourNs + 30 * kMinuteNs;
constexpr std::int64_t kSessionNs = 6 * kHourNs + 30 * kMinuteNs;
constexpr double kFirstPrice = 100.0;
constexpr int kStepsPerBar = 8;  // the path inside a bar, from which high and low follow

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

struct Regime {
  double drift;       // per bar, in units of volatility
  double volatility;  // per bar, log price
};
constexpr std::array<Regime, 3> kRegimes = {{{0.06, 5e-4}, {-0.07, 8e-4}, {0.0, 3e-4}}};

class Market {
 public:
  explicit Market(const SyntheticOptions& options)
      : options_(options), random_(options.seed), bar_scale_(scale_of(options.bar_length_ns)) {}

  Bar next() {
    Bar bar{};
    bar.timestamp_ns = time_ns_;
    const bool opens_session = advance_clock();
    move_regime();
    if (opens_session) log_price_ += 6.0 * sigma_ * random_.normal();
    if (random_.uniform() < 2e-4) log_price_ += 12.0 * sigma_ * random_.normal();
    fill_prices(bar);
    const double volume_log = 7.0 + shape_at(bar.timestamp_ns) +
                              std::abs(std::log(bar.close / bar.open)) / sigma_ * 0.4 +
                              0.5 * random_.normal();
    bar.volume = std::floor(std::exp(volume_log));
    return bar;
  }

 private:
  static double scale_of(std::int64_t bar_length_ns) {
    return std::sqrt(static_cast<double>(bar_length_ns) / static_cast<double>(kMinuteNs));
  }

  [[nodiscard]] bool daily() const { return options_.bar_length_ns > kSessionNs; }

  // Sets time_ns_ to the bar after this one; true when this one opens a session.
  bool advance_clock() {
    const std::int64_t day_ns = time_ns_ - (time_ns_ - kFirstMondayNs) % kDayNs;
    const std::int64_t open_ns = day_ns + (daily() ? 0 : kSessionOpenNs);
    const bool opens = time_ns_ == open_ns && time_ns_ != first_time_ns();
    std::int64_t next_ns = time_ns_ + options_.bar_length_ns;
    if (!daily() && next_ns >= open_ns + kSessionNs) next_ns = open_ns + kDayNs;
    while ((next_ns - kFirstMondayNs) / kDayNs % 7 >= 5) next_ns += kDayNs;
    time_ns_ = next_ns;
    return opens;
  }

  [[nodiscard]] std::int64_t first_time_ns() const {
    return kFirstMondayNs + (daily() ? 0 : kSessionOpenNs);
  }

  void move_regime() {
    if (random_.uniform() < 1.0 / 150.0) regime_ = random_.bits() % kRegimes.size();
    log_heat_ = 0.98 * log_heat_ + 0.08 * random_.normal();
    sigma_ = kRegimes[regime_].volatility * std::exp(log_heat_) * bar_scale_;
  }

  void fill_prices(Bar& bar) {
    const double drift = kRegimes[regime_].drift * sigma_;
    // A weak pull home keeps a million bars within a sane range of prices.
    const double pull = -1e-5 * (log_price_ - std::log(kFirstPrice));
    double log_high = log_price_;
    double log_low = log_price_;
    bar.open = price_of(log_price_);
    for (int step = 0; step < kStepsPerBar; ++step) {
      log_price_ += (drift + pull) / kStepsPerBar +
                    sigma_ * random_.normal() / std::sqrt(static_cast<double>(kStepsPerBar));
      log_high = std::max(log_high, log_price_);
      log_low = std::min(log_low, log_price_);
    }
    bar.close = price_of(log_price_);
    bar.high = std::max({price_of(log_high), bar.open, bar.close});
    bar.low = std::min({price_of(log_low), bar.open, bar.close});
  }

  [[nodiscard]] double price_of(double log_price) const {
    const double price = std::exp(log_price);
    if (options_.tick <= 0.0) return price;
    return std::max(options_.tick, std::round(price / options_.tick) * options_.tick);
  }

  // Log of the usual volume at this time: high at both ends of the session.
  [[nodiscard]] double shape_at(std::int64_t time_ns) const {
    if (daily()) return 0.0;
    const std::int64_t into_ns = (time_ns - kFirstMondayNs) % kDayNs - kSessionOpenNs;
    const double x = 2.0 * static_cast<double>(into_ns) / static_cast<double>(kSessionNs) - 1.0;
    return 1.4 * x * x;
  }

  SyntheticOptions options_;
  Random random_;
  double bar_scale_;
  std::int64_t time_ns_ = first_time_ns();
  std::size_t regime_ = 2;
  double log_heat_ = 0.0;
  double sigma_ = kRegimes[2].volatility;
  double log_price_ = std::log(kFirstPrice);
};
}  // namespace

BarSeries synthetic_bars(const SyntheticOptions& options) {
  BarSeries series;
  series.source =
      "synthetic:" + std::to_string(options.row_count) + ":" + std::to_string(options.seed);
  series.bars.reserve(options.row_count);
  Market market(options);
  for (std::size_t i = 0; i < options.row_count; ++i) series.bars.push_back(market.next());
  return series;
}

BarSeries synthetic_bars(std::size_t row_count, std::uint64_t seed) {
  return synthetic_bars(SyntheticOptions{.row_count = row_count, .seed = seed});
}
}  // namespace drey::trainer
