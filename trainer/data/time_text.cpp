// time_text.cpp: see time_text.hpp. A cursor eats the text; each form must eat all of it.
// Invariant: no intermediate overflows: years are bounded before they become nanoseconds.
// SPDX-License-Identifier: MIT
#include "trainer/data/time_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace drey::trainer {
namespace {
constexpr int kYearMin = 1700;  // int64 nanoseconds reach from 1677 to 2262
constexpr int kYearMax = 2260;

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] bool at(char c) const { return !text_.empty() && text_.front() == c; }
  bool eat(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Exactly `count` digits.
  bool eat_number(std::size_t count, int& value) {
    if (text_.size() < count) return false;
    value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char c = text_[i];
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  /// One to nine digits, as a fraction of 1 scaled to 1e9.
  bool eat_fraction(std::int64_t& billionths) {
    std::size_t count = 0;
    billionths = 0;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') {
      billionths = billionths * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
      if (++count > 9) return false;
    }
    for (std::size_t i = count; i < 9; ++i) billionths *= 10;
    return count != 0;
  }

 private:
  std::string_view text_;
};

std::optional<std::int64_t> date_ns(int year, int month, int day) {
  namespace chrono = std::chrono;
  if (year < kYearMin || year > kYearMax) return std::nullopt;
  const chrono::year_month_day date(chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return chrono::sys_days(date).time_since_epoch().count() * kDayNs;
}

// hh:mm[:ss[.fraction]]
bool eat_clock(Cursor& cursor, std::int64_t& ns) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t fraction_ns = 0;
  if (!cursor.eat_number(2, hour) || !cursor.eat(':') || !cursor.eat_number(2, minute))
    return false;
  if (cursor.eat(':')) {
    if (!cursor.eat_number(2, second)) return false;
    if (cursor.eat('.') && !cursor.eat_fraction(fraction_ns)) return false;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  ns = hour * kHourNs + minute * kMinuteNs + second * kSecondNs + fraction_ns;
  return true;
}

// Z, +hh:mm, +hhmm, +hh or nothing.
bool eat_offset(Cursor& cursor, std::int64_t& ns) {
  ns = 0;
  if (cursor.at_end() || cursor.eat('Z') || cursor.eat('z')) return true;
  const bool behind = cursor.at('-');
  if (!cursor.eat('+') && !cursor.eat('-')) return false;
  int hour = 0;
  int minute = 0;
  if (!cursor.eat_number(2, hour)) return false;
  const bool colon = cursor.eat(':');
  if ((colon || !cursor.at_end()) && !cursor.eat_number(2, minute)) return false;
  if (hour > 23 || minute > 59) return false;
  ns = (hour * kHourNs + minute * kMinuteNs) * (behind ? -1 : 1);
  return true;
}

// What follows the date: nothing, or a separator, a clock time and an offset.
std::optional<std::int64_t> with_clock(Cursor cursor, std::optional<std::int64_t> day_ns) {
  if (!day_ns || cursor.at_end()) return day_ns;
  if (!cursor.eat('T') && !cursor.eat('t') && !cursor.eat(' ')) return std::nullopt;
  std::int64_t clock_ns = 0;
  std::int64_t offset_ns = 0;
  if (!eat_clock(cursor, clock_ns)) return std::nullopt;
  if (!eat_offset(cursor, offset_ns) || !cursor.at_end()) return std::nullopt;
  return *day_ns + clock_ns - offset_ns;
}

std::optional<std::int64_t> parse_iso(std::string_view text) {
  Cursor cursor(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.eat_number(4, year) || !cursor.eat('-') || !cursor.eat_number(2, month) ||
      !cursor.eat('-') || !cursor.eat_number(2, day))
    return std::nullopt;
  return with_clock(cursor, date_ns(year, month, day));
}

std::optional<std::int64_t> parse_european(std::string_view text) {
  Cursor cursor(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.eat_number(2, day) || !cursor.eat('.') || !cursor.eat_number(2, month) ||
      !cursor.eat('.') || !cursor.eat_number(4, year))
    return std::nullopt;
  return with_clock(cursor, date_ns(year, month, day));
}

// Eight digits would be epoch seconds of August 1970, of which no bars exist.
std::optional<std::int64_t> parse_compact_date(std::string_view text) {
  Cursor cursor(text);
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.eat_number(4, year) || !cursor.eat_number(2, month) || !cursor.eat_number(2, day) ||
      !cursor.at_end() || year < 1900 || year > 2199)
    return std::nullopt;
  return date_ns(year, month, day);
}

// Nobody's bars are of 1970 or of the year 5138, so the size tells the unit.
std::int64_t epoch_unit_ns(std::int64_t number) {
  const std::uint64_t bits = static_cast<std::uint64_t>(number);
  const std::uint64_t size = number < 0 ? 0 - bits : bits;
  if (size < 100'000'000'000) return kSecondNs;
  if (size < 100'000'000'000'000) return 1'000'000;
  return size < 100'000'000'000'000'000 ? 1'000 : 1;
}

std::optional<std::int64_t> parse_epoch(std::string_view text) {
  std::int64_t whole = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{}) return std::nullopt;
  std::int64_t fraction = 0;
  Cursor cursor(text.substr(static_cast<std::size_t>(rest - text.data())));
  if (cursor.eat('.') && !cursor.eat_fraction(fraction)) return std::nullopt;
  if (!cursor.at_end()) return std::nullopt;
  const std::int64_t unit_ns = epoch_unit_ns(whole);
  const std::optional<std::int64_t> time_ns = scaled_time(whole, unit_ns);
  if (!time_ns) return std::nullopt;
  const std::int64_t fraction_ns = fraction / (kSecondNs / unit_ns);
  return *time_ns + (text.front() == '-' ? -fraction_ns : fraction_ns);
}
}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  if (text.size() >= 5 && text[4] == '-') return parse_iso(text);
  if (text.size() >= 3 && text[2] == '.' && text.size() >= 10) {
    if (const auto time = parse_european(text)) return time;
  }
  if (const auto time = parse_compact_date(text)) return time;
  return parse_epoch(text);
}

std::optional<std::int64_t> scaled_time(std::int64_t count, std::int64_t unit_ns) {
  constexpr std::int64_t kMaxNs = std::int64_t{kYearMax - 1970} * 365 * kDayNs;
  const std::int64_t count_max = kMaxNs / unit_ns;
  if (count > count_max || count < -count_max) return std::nullopt;
  return count * unit_ns;
}

std::optional<std::int64_t> time_of_number(std::int64_t number) {
  constexpr std::int64_t kCompactDateMin = 19'000'101;
  constexpr std::int64_t kCompactDateMax = 21'991'231;
  if (number >= kCompactDateMin && number <= kCompactDateMax)
    return parse_time(std::to_string(number));
  return scaled_time(number, epoch_unit_ns(number));
}

std::string format_time(std::int64_t timestamp_ns) {
  namespace chrono = std::chrono;
  const auto time = chrono::sys_time<chrono::nanoseconds>(chrono::nanoseconds(timestamp_ns));
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss<chrono::nanoseconds> clock(time - day);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string result(text.data());
  if (clock.subseconds().count() != 0) {
    std::snprintf(text.data(), text.size(), ".%09d", static_cast<int>(clock.subseconds().count()));
    result += text.data();
  }
  return result + "Z";
}

std::string format_time_briefly(std::int64_t timestamp_ns) {
  std::string text = format_time(timestamp_ns);
  constexpr std::string_view kMidnight = "T00:00:00Z";
  if (text.ends_with(kMidnight)) text.resize(text.size() - kMidnight.size());
  return text;
}

std::string format_duration(std::int64_t duration_ns) {
  struct Unit {
    std::int64_t ns;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {
      {{kDayNs, " d"}, {kHourNs, " h"}, {kMinuteNs, " min"}, {kSecondNs, " s"}}};
  const auto fits = [=](const Unit& unit) { return duration_ns >= unit.ns; };
  const auto largest = std::find_if(kUnits.begin(), kUnits.end() - 1, fits);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.4g%s",
                static_cast<double>(duration_ns) / static_cast<double>(largest->ns), largest->name);
  return text.data();
}
}  // namespace drey::trainer
