// dbn_metadata.hpp: what stands before the records of a Databento file (DBN, versions 1 to 3).
//   0 "DBN"  3 version  4 length L of what follows from 8 on, then the records
//   8 dataset[16]  24 schema  26 start, end, limit  50 (version 1: 58) stype_in, stype_out, ts_out
//   53 (2, 3) bytes of a symbol; 22 in version 1
//   108 length of a schema definition: 0, then lists: symbols, partial, not found, mappings
// All numbers are little-endian.
// Source: the layout that Databento documents as "Databento Binary Encoding".
// Read next: dbn_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/data/byte_source.hpp"

namespace drey::trainer {
inline constexpr std::uint16_t kSchemaMixed = 0xFFFF;

/// The number `T` at `offset`, whatever its alignment. Requires: it lies within `bytes`.
template <class T>
[[nodiscard]] T little_endian_at(std::string_view bytes, std::size_t offset) noexcept {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number = static_cast<T>(
        number |
        static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i)));
  return number;
}

/// Which symbol an instrument's number stood for, and when.
struct DbnMapping {
  std::int64_t first_day_ns;  ///< from midnight UTC of this day
  std::int64_t end_day_ns;    ///< up to midnight of this one
  std::string symbol;
};

struct DbnMetadata {
  std::uint16_t schema = kSchemaMixed;
  std::unordered_map<std::uint32_t, std::vector<DbnMapping>> mappings;  ///< by instrument id

  /// The symbol of instrument `id` at this time; empty when the file names none.
  [[nodiscard]] std::string_view symbol_at(std::uint32_t id, std::int64_t time_ns) const;
};

/// Reads what stands before the records, from a source whose first eight bytes were `prefix`.
/// Fails: DataError for another version, a length that is too small or goes past the end, a list
/// that does, and a schema that has no bars.
[[nodiscard]] DbnMetadata read_dbn_metadata(const std::string& path, std::string_view prefix,
                                            ByteSource& source);

/// "ohlcv-1m", "mbo"; the number of a schema that is not known.
[[nodiscard]] std::string dbn_schema_name(std::uint16_t schema);
}  // namespace drey::trainer
