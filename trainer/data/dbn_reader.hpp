// dbn_reader.hpp: market bars from Databento files (DBN): versions 1, 2 and 3, plain or zstd, with
// metadata or a fragment that has records only.
// Records: 16 bytes {length in words of 4 bytes, kind, publisher[2], instrument id[4], time[8]}; of
// a bar then open, high, low, close in units of 1e-9 and a volume: 56 bytes, or more.
// Invariants: as BarSeries; bars are of one kind (1 s, 1 min, ...) and of one instrument.
// Read next: dbn_metadata.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// The bars of `path`. ReadOptions::symbol is a symbol of the metadata's mappings, or the number of
/// an instrument. Records that are no bars are passed over.
/// Fails: DataError naming file, record (as row, from 1), column, expected and found, for: legacy
/// DBZ; data that is no DBN; what read_dbn_metadata() refuses; zstd that is damaged, cut off, or
/// cannot be unpacked by this program; a record of no sound length or cut off; a price or time that
/// is undefined; bars of two kinds; two instruments without a filter; no bars; and the rules of
/// bar_rules.hpp and bar_collector.hpp.
/// Cost: one pass; memory is the bars, the metadata and a fixed buffer.
[[nodiscard]] BarSeries read_dbn(const std::string& path, const ReadOptions& options = {});
}  // namespace drey::trainer
