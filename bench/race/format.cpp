// format.cpp: see format.hpp.
// SPDX-License-Identifier: MIT
#include "race/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace drey::bench {
namespace {
constexpr double kRatioWithTwoDecimals = 0.095;  // below, two decimals are not two digits
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string significant(double value) {
  if (!(value > 0)) return "0";
  const int magnitude = static_cast<int>(std::floor(std::log10(value)));
  return fixed(value, std::clamp(2 - magnitude, 0, 9));
}

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, 1, ',');
  }
  return text;
}

std::string duration(double nanoseconds) {
  if (nanoseconds < 1e3) return significant(nanoseconds) + " ns";
  if (nanoseconds < 1e6) return significant(nanoseconds * 1e-3) + " us";
  if (nanoseconds < 1e9) return significant(nanoseconds * 1e-6) + " ms";
  return significant(nanoseconds * 1e-9) + " s";
}

double mebibytes(double bytes) noexcept {
  return bytes / (1024.0 * 1024.0);
}

std::string plural(int count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string ratio_number(double ratio) {
  return ratio < kRatioWithTwoDecimals ? significant(ratio) : fixed(ratio, 2);
}

std::string ratio_text(const Comparison& comparison) {
  std::string text = ratio_number(comparison.ratio.median);
  if (comparison.ratio.count > 1) {
    text += " (" + ratio_number(comparison.ratio.lower_quartile) + "-" +
            ratio_number(comparison.ratio.upper_quartile) + ")";
  }
  if (comparison.is_tie) text += " tie";
  return text;
}
}  // namespace drey::bench
