// time_text.hpp: the forms in which market data writes its times, to and from nanoseconds UTC.
//   ISO 8601       2020-01-03, 2020-01-03T14:30[:05[.123456789]] with 'T' or ' ', then nothing
//                  (UTC), Z, +hh:mm, +hhmm or +hh
//   European       03.01.2020[ 14:30[:05[.123]]]
//   compact date   20200103 (eight digits that are a date of 1900 to 2199)
//   epoch          digits[.fraction]: seconds below 1e11, ms below 1e14, us below 1e17, else ns
// Read next: csv_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace drey::trainer {
inline constexpr std::int64_t kSecondNs = 1'000'000'000;
inline constexpr std::int64_t kMinuteNs = 60 * kSecondNs;
inline constexpr std::int64_t kHourNs = 60 * kMinuteNs;
inline constexpr std::int64_t kDayNs = 24 * kHourNs;

/// Nanoseconds since 1970-01-01 UTC; nothing when `text` is in none of the forms above or is no
/// time of 1700 to 2260.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

/// `count` units of `unit_ns` since 1970; nothing when that is no time of 1700 to 2260.
[[nodiscard]] std::optional<std::int64_t> scaled_time(std::int64_t count, std::int64_t unit_ns);

/// What parse_time() says to the digits of `number`.
[[nodiscard]] std::optional<std::int64_t> time_of_number(std::int64_t number);

/// "2020-01-03T14:30:05Z", with nine decimals when the time is not a whole second.
[[nodiscard]] std::string format_time(std::int64_t timestamp_ns);

/// The same, shortened to "2020-01-03" when the time is midnight.
[[nodiscard]] std::string format_time_briefly(std::int64_t timestamp_ns);

/// "1 d", "1.5 h", "30 s" or "0.25 s": four digits in the largest unit not above it.
[[nodiscard]] std::string format_duration(std::int64_t duration_ns);
}  // namespace drey::trainer
