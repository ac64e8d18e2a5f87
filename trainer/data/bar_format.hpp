// bar_format.hpp: which format a file of bars is in, told by its first bytes.
// A file whose beginning is unmistakable is what that says, whatever its name; what is left is CSV,
// unless the name promises a format that begins otherwise.
// Read next: read_bars.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace drey::trainer {
enum class BarFormat : std::uint8_t { kCsv, kParquet, kDbn, kBarFile };

/// Fails: DataError when `path` is missing, a directory, unreadable or empty; when it is in a form
/// that is known and not read (Arrow, zip, xz, ...); when the name promises another format.
/// Pipes are taken for CSV, as they can be read once only.
[[nodiscard]] BarFormat find_format(const std::string& path);
}  // namespace drey::trainer
