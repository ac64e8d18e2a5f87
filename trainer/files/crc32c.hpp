// crc32c.hpp: Castagnoli's cyclic redundancy check, as TFRecord files use it.
// Source: RFC 3720, appendix B.4 (polynomial 0x1edc6f41, reflected); the mask is TensorFlow's
// (tensorflow/core/lib/hash/crc32c.h).
// Read next: event_file.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace drey::trainer {
namespace crc32c_table {
constexpr std::array<std::uint32_t, 256> of_bytes() {
  constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = value >> 1 ^ ((value & 1) != 0 ? kReflectedPolynomial : 0);
    table[byte] = value;
  }
  return table;
}
inline constexpr std::array<std::uint32_t, 256> kTable = of_bytes();
}  // namespace crc32c_table

/// Cost: a table look-up a byte; records of events are short.
[[nodiscard]] constexpr std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t value = 0xffffffff;
  for (const char byte : bytes) {
    const auto index = (value ^ static_cast<unsigned char>(byte)) & 0xff;
    value = value >> 8 ^ crc32c_table::kTable[index];
  }
  return ~value;
}
static_assert(crc32c("123456789") == 0xe3069283);

/// So that the check of a record that holds checks is not fooled.
[[nodiscard]] constexpr std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t value = crc32c(bytes);
  return (value >> 15 | value << 17) + 0xa282ead8;
}
}  // namespace drey::trainer
