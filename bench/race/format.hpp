// format.hpp: numbers as people read them, the same in the table and on the page.
// SPDX-License-Identifier: MIT
#pragma once

#include "race/statistics.hpp"

#include <cstdint>
#include <string>

namespace drey::bench {
/// fixed(3.14159, 2) is "3.14".
[[nodiscard]] std::string fixed(double value, int decimals);

/// Three significant digits without an exponent: "0.0123", "1.23", "12.3", "123", "1234".
[[nodiscard]] std::string significant(double value);

/// Groups of three: "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// "3.40 ns", "12.1 us", "4.56 ms"
[[nodiscard]] std::string duration(double nanoseconds);

[[nodiscard]] double mebibytes(double bytes) noexcept;

/// "1 round", "5 rounds"
[[nodiscard]] std::string plural(int count, const std::string& word);

/// "0.72"; below 0.1 three digits: "0.0123".
[[nodiscard]] std::string ratio_number(double ratio);

/// "0.72 (0.71-0.74)", or "1.01 (0.98-1.03) tie"
[[nodiscard]] std::string ratio_text(const Comparison& comparison);
}  // namespace drey::bench
