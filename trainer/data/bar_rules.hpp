// bar_rules.hpp: what is true of every bar that a reader returns, and how a breach is told.
// Read next: bar_collector.hpp, which holds the rules on the order of bars.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "trainer/data/bars.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
inline constexpr double kPriceMin = 1e-12;  ///< smallest price that a reader accepts
inline constexpr double kPriceMax = 1e15;   ///< largest
inline constexpr double kVolumeMax = 1e18;  ///< largest volume: products with prices stay finite

/// The values of a bar in the order of their members, by the names of their columns.
inline constexpr std::array<std::string_view, 5> kPriceColumns = {"open", "high", "low", "close",
                                                                  "volume"};

/// The five values as the file spells them.
using ValueTexts = std::array<std::string, kPriceColumns.size()>;

/// All rules on one bar's values; false as well when one of them is no number.
[[nodiscard]] inline bool is_sound(const Bar& bar) noexcept {
  return bar.low >= kPriceMin && bar.high <= kPriceMax && bar.open >= bar.low &&
         bar.open <= bar.high && bar.close >= bar.low && bar.close <= bar.high &&
         bar.volume >= 0.0 && bar.volume <= kVolumeMax;
}

/// Names the first rule that `bar` breaks; `place` is its row. Requires: !is_sound(bar).
/// Fails: always, with a DataError.
[[noreturn]] void throw_unsound(const Bar& bar, DataPlace place, const ValueTexts& texts);

/// The shortest text that reads back as the same number.
[[nodiscard]] std::string number_text(double number);

/// The values of a bar that came from a binary file.
[[nodiscard]] ValueTexts value_texts(const Bar& bar);
}  // namespace drey::trainer
