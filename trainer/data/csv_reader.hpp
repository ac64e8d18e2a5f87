// csv_reader.hpp: market bars from a CSV file, plain or gzip.
// Header, any case and order, other columns ignored: one of timestamp, timestamp_utc, ts_event,
// datetime, date, time (or date and time together); open, high, low, close, volume; perhaps symbol.
// Invariant: what is returned keeps every promise of BarSeries; nothing is repaired or dropped
// silently but blank lines.
// Read next: time_text.hpp for the forms of time, data_fault.hpp for the form of a message.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// The bars of `path`, oldest first. BarSeries::source is `path` as given.
/// Fails: DataError naming file, row, column, expected and found, for: a path that is missing, a
/// directory or unreadable; gzip data damaged or cut off; no rows; a column missing; a row with too
/// few fields; a time or number that cannot be read or is not finite; a price outside
/// [kPriceMin, kPriceMax]; a volume outside [0, kVolumeMax]; high < low; open or close outside
/// [low, high]; a time not after the one before; several symbols interleaved without a filter.
/// Cost: one pass; memory is the bars and a fixed buffer.
[[nodiscard]] BarSeries read_csv(const std::string& path, const ReadOptions& options = {});
}  // namespace drey::trainer
