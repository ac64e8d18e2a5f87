// read_bars.hpp: market bars from whatever the user names: one file in any format, or many.
// Invariants: files are taken in the order of their first bars, whatever their names; they do not
// overlap; the whole keeps every promise of BarSeries.
// Read next: bar_format.hpp, and the reader of each format.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// The files that `data` names: a file of just this name; else a list with commas, each word of it
/// a file or a pattern (*, ?, [a-z], as in the shell; folders that match are left out).
/// Fails: DataError for a pattern that matches no file, and for an empty word. A word without
/// wildcards is returned whether there is such a file or not.
[[nodiscard]] std::vector<std::string> find_bar_files(const std::string& data);

/// The bars of one file, in the format that its contents tell.
/// Fails: DataError of find_format() and of the reader.
[[nodiscard]] BarSeries read_bar_source(const std::string& path, const ReadOptions& options = {});

/// The bars of all files that `data` names, as one series of source `data`. Its instrument is
/// theirs, if all agree. Fails: as the two above; DataError naming both files where one begins
/// before another ends. Cost: that of the readers, and one copy where there are several files.
[[nodiscard]] BarSeries read_bars(const std::string& data, const ReadOptions& options = {});
}  // namespace drey::trainer
