// text.hpp: text built in a fixed buffer, for code that must not allocate.
// Invariants: the buffer always ends in a NUL; what does not fit is cut, never written past the
// end.
// Read next: assert.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey {
/// Text of at most kCapacity - 1 characters on the stack. Threads: one at a time.
template <std::size_t kCapacity>
class Text {
 public:
  Text& add(const char* text) noexcept {
    while (*text != '\0' && length_ + 1 < kCapacity) characters_[length_++] = *text++;
    characters_[length_] = '\0';
    return *this;
  }

  /// Decimal.
  Text& add(std::uint64_t value) noexcept { return add_digits(value, 10, 1); }

  /// "0x" and hexadecimal digits.
  Text& add_hex(std::uint64_t value) noexcept { return add("0x").add_digits(value, 16, 1); }
  Text& add(const void* pointer) noexcept {
    return add_hex(reinterpret_cast<std::uintptr_t>(pointer));
  }

  /// `thousandths` / 1000 with three decimals: add_milli(1500) is "1.500".
  Text& add_milli(std::uint64_t thousandths) noexcept {
    return add(thousandths / 1000).add(".").add_digits(thousandths % 1000, 10, 3);
  }

  [[nodiscard]] const char* c_str() const noexcept { return characters_; }
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  void clear() noexcept {
    length_ = 0;
    characters_[0] = '\0';
  }

 private:
  Text& add_digits(std::uint64_t value, unsigned base, int width_min) noexcept {
    char reversed[24];
    int count = 0;
    while (value != 0 || count < width_min) {
      reversed[count++] = "0123456789abcdef"[value % base];
      value /= base;
    }
    while (count > 0 && length_ + 1 < kCapacity) characters_[length_++] = reversed[--count];
    characters_[length_] = '\0';
    return *this;
  }

  char characters_[kCapacity] = {};
  std::size_t length_ = 0;
};
}  // namespace drey
