// vector_log.hpp: natural logarithms of many values at once, in vector registers where there are
// any, with the same bits everywhere: no table, no branch, no fused multiply-add needed.
// Method: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f / (2 + f); then
//   ln m = 2 atanh s = f - s (f - R), R = 2 s^2/3 + 2 s^4/5 + ..., |s| <= 0.172,
// so eleven terms leave less than 1e-17 and f, which is exact, carries the result near 1.
// Read next: feature_row.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::trainer {
/// ln x within 2 units in the last place. Requires: a positive, finite, normal number.
[[nodiscard]] inline double log_of(double x) {
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kBias = 1024;  // keeps the exponent above 0: the shift is then unsigned
  constexpr unsigned kFractionBits = 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t biased = (bits - kRootOfHalf + (kBias << kFractionBits)) >> kFractionBits;
  const double m =
      std::bit_cast<double>(bits - (biased << kFractionBits) + (kBias << kFractionBits));
  // 2^52 + n has n as its fraction: a conversion that every vector unit can do.
  constexpr std::uint64_t kBitsOf2To52 = 0x4330000000000000;
  const double k =
      std::bit_cast<double>(biased | kBitsOf2To52) - (0x1p52 + static_cast<double>(kBias));
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = 2.0 / 23.0;
  series = series * z + 2.0 / 21.0;
  series = series * z + 2.0 / 19.0;
  series = series * z + 2.0 / 17.0;
  series = series * z + 2.0 / 15.0;
  series = series * z + 2.0 / 13.0;
  series = series * z + 2.0 / 11.0;
  series = series * z + 2.0 / 9.0;
  series = series * z + 2.0 / 7.0;
  series = series * z + 2.0 / 5.0;
  series = series * z + 2.0 / 3.0;
  // ln 2 in two parts; the first has 32 zero bits at its end, so that k times it is exact.
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  return k * kLn2High + ((f - s * (f - series * z)) + k * kLn2Low);
}

/// Replaces each value by its logarithm.
inline void take_logs(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = log_of(values[i]);
}
}  // namespace drey::trainer
