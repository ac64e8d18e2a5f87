// dbn_files.hpp: DBN files for the tests, put together byte by byte from the layout.
// Read next: dbn_metadata.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
/// `number` as `size` bytes, the lowest first.
inline std::string little_endian(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

inline std::string padded(std::string_view text, std::size_t size) {
  std::string bytes(text);
  bytes.resize(size, '\0');
  return bytes;
}

struct DbnSymbol {
  std::string name;
  std::string id;
  std::uint32_t first_date = 20'240'101;
  std::uint32_t end_date = 20'250'101;
};

struct DbnHead {
  unsigned version = 3;
  std::uint16_t schema = 6;  // ohlcv-1m
  std::vector<DbnSymbol> symbols = {{"ESH4", "17"}};
  std::size_t padding_bytes = 0;  // version 3 pads to a multiple of 8
};

/// What stands before the records.
inline std::string dbn_head(const DbnHead& head = {}) {
  const std::size_t symbol_bytes = head.version == 1 ? 22 : 71;
  std::string rest = padded("GLBX.MDP3", 16) + little_endian(head.schema, 2);
  rest += little_endian(0, 8) + little_endian(~std::uint64_t{0}, 8) + little_endian(0, 8);
  if (head.version == 1) rest += little_endian(0, 8);
  rest += std::string("\1\0\0", 3);
  if (head.version > 1) rest += little_endian(symbol_bytes, 2);
  rest.resize(100, '\0');
  rest += little_endian(0, 4) + little_endian(head.symbols.size(), 4);
  for (const DbnSymbol& symbol : head.symbols) rest += padded(symbol.name, symbol_bytes);
  rest += little_endian(0, 4) + little_endian(0, 4) + little_endian(head.symbols.size(), 4);
  for (const DbnSymbol& symbol : head.symbols) {
    rest += padded(symbol.name, symbol_bytes) + little_endian(1, 4);
    rest += little_endian(symbol.first_date, 4) + little_endian(symbol.end_date, 4);
    rest += padded(symbol.id, symbol_bytes);
  }
  rest.append(head.padding_bytes, '\0');
  std::string bytes("DBN");
  bytes += little_endian(head.version, 1);
  bytes += little_endian(rest.size(), 4);
  return bytes += rest;
}

inline constexpr std::uint64_t kDbnFirstNs = 1'704'205'800'000'000'000;  // 2024-01-02T14:30:00Z
inline constexpr std::uint64_t kDbnMinuteNs = 60'000'000'000;
inline constexpr std::uint64_t kDbnUndefined = std::numeric_limits<std::int64_t>::max();

struct DbnBar {
  std::uint64_t time_ns = kDbnFirstNs;
  std::uint32_t id = 17;
  std::uint64_t open = 1'500'000'000;  // units of 1e-9
  std::uint64_t high = 2'000'000'000;
  std::uint64_t low = 1'000'000'000;
  std::uint64_t close = 1'750'000'000;
  std::uint64_t volume = 10;
  std::uint8_t kind = 0x21;
  std::uint8_t words = 14;
};

inline std::string dbn_record(const DbnBar& bar) {
  std::string bytes = little_endian(bar.words, 1) + little_endian(bar.kind, 1);
  bytes += little_endian(1, 2) + little_endian(bar.id, 4) + little_endian(bar.time_ns, 8);
  for (const std::uint64_t value : {bar.open, bar.high, bar.low, bar.close, bar.volume})
    bytes += little_endian(value, 8);
  bytes.resize(std::size_t{bar.words} * 4, '\0');
  return bytes;
}

/// `count` minutes of one instrument.
inline std::string dbn_minutes(std::size_t count, std::uint32_t id = 17) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += dbn_record({.time_ns = kDbnFirstNs + i * kDbnMinuteNs, .id = id, .volume = i});
  return bytes;
}
}  // namespace drey::trainer
