// hash.hpp: FNV-1a, 64 bits: tells whether two runs ended with the same bytes. Not for secrets.
// Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace drey::trainer {
class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
    }
  }

  [[nodiscard]] std::uint64_t value() const { return value_; }

  /// Sixteen hexadecimal digits.
  [[nodiscard]] std::string text() const {
    std::string digits(16, '0');
    for (std::size_t place = 0; place < digits.size(); ++place) {
      digits[place] = "0123456789abcdef"[(value_ >> (60 - 4 * place)) & 15];
    }
    return digits;
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};
}  // namespace drey::trainer
