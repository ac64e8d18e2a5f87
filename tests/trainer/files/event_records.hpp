// event_records.hpp: the records of a file of events, for the tests: lengths and checks are verified by
// code that the program does not have.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/files/output_file.hpp"

namespace drey::test {
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

// The check bit by bit, as RFC 3720 defines it: not the table of the program.
inline std::uint32_t plain_crc32c(std::string_view bytes) {
  std::uint32_t value = 0xffffffff;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~value;
}

inline std::uint32_t unmasked(std::uint64_t masked) {
  const auto rotated = static_cast<std::uint32_t>(masked) - 0xa282ead8U;
  return rotated << 15 | rotated >> 17;
}

/// The records of a file, each checked.
inline std::vector<std::string> records_of(const std::string& path) {
  const std::string contents = drey::trainer::read_file(path);
  std::string_view rest = contents;
  std::vector<std::string> records;
  while (!rest.empty()) {
    const std::string_view length = rest.substr(0, 8);
    EXPECT_EQ(unmasked(little_endian(rest.substr(8, 4))), plain_crc32c(length));
    const std::size_t size = little_endian(length);
    const std::string_view bytes = rest.substr(12, size);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(unmasked(little_endian(rest.substr(12 + size, 4))), plain_crc32c(bytes));
    records.emplace_back(bytes);
    rest.remove_prefix(16 + size);
  }
  return records;
}
}  // namespace drey::test
