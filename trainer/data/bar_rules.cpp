// bar_rules.cpp: see bar_rules.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_rules.hpp"

#include <charconv>
#include <cmath>

namespace drey::trainer {
namespace {
constexpr std::size_t kOpen = 0;
constexpr std::size_t kHigh = 1;
constexpr std::size_t kLow = 2;
constexpr std::size_t kClose = 3;
constexpr std::size_t kVolume = 4;

std::array<double, kPriceColumns.size()> values_of(const Bar& bar) {
  return {bar.open, bar.high, bar.low, bar.close, bar.volume};
}

struct Breach {
  DataPlace place;
  const ValueTexts& texts;

  [[noreturn]] void tell(std::size_t index, std::string_view expected) const {
    throw_data_error({place.file, place.row, kPriceColumns[index]}, expected, quoted(texts[index]));
  }
};
}  // namespace

void throw_unsound(const Bar& bar, DataPlace place, const ValueTexts& texts) {
  const auto values = values_of(bar);
  const Breach breach{place, texts};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) breach.tell(i, "a finite number");
  }
  for (std::size_t i = kOpen; i <= kClose; ++i) {
    if (values[i] <= 0.0) breach.tell(i, "a price above 0");
    if (values[i] < kPriceMin || values[i] > kPriceMax)
      breach.tell(i, "a price from 1e-12 to 1e15");
  }
  if (bar.volume < 0.0) breach.tell(kVolume, "a volume of 0 or more");
  if (bar.volume > kVolumeMax) breach.tell(kVolume, "a volume up to 1e18");
  if (bar.high < bar.low) breach.tell(kHigh, "high >= low = " + texts[kLow]);
  const bool is_open = bar.open < bar.low || bar.open > bar.high;
  breach.tell(is_open ? kOpen : kClose,
              "a price from low = " + texts[kLow] + " to high = " + texts[kHigh]);
}

std::string number_text(double number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

ValueTexts value_texts(const Bar& bar) {
  ValueTexts texts;
  const auto values = values_of(bar);
  for (std::size_t i = 0; i < values.size(); ++i) texts[i] = number_text(values[i]);
  return texts;
}
}  // namespace drey::trainer
