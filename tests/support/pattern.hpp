// pattern.hpp: contents that say which block they belong to, and hide values from the compiler.
// Invariant: check_pattern(p, n, tag) holds after fill_pattern(p, n, tag) unless someone else
// wrote. Every byte depends on its place and on the tag, so a shifted or a foreign content is seen.
// Read next: random_ops.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drey::test {
/// Makes the compiler believe that `pointer` is used and its memory changed.
template <typename T>
T* escape(T* pointer) noexcept {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

/// The same for a number: its value is no constant any more.
inline std::size_t opaque(std::size_t value) noexcept {
  asm volatile("" : "+r"(value));
  return value;
}

inline unsigned char pattern_byte(std::size_t index, std::uint64_t tag) noexcept {
  return static_cast<unsigned char>((index * 131 + tag * 29 + (index >> 8) + (tag >> 7)) & 0xff);
}

inline void fill_pattern(void* block, std::size_t bytes, std::uint64_t tag) noexcept {
  auto* const byte = static_cast<unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; ++i) byte[i] = pattern_byte(i, tag);
}

inline bool check_pattern(const void* block, std::size_t bytes, std::uint64_t tag) noexcept {
  const auto* const byte = static_cast<const unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (byte[i] != pattern_byte(i, tag)) return false;
  }
  return true;
}

/// The same for large blocks, where only the ends and one byte a page are looked at.
inline void fill_sparse(void* block, std::size_t bytes, std::uint64_t tag) noexcept {
  auto* const byte = static_cast<unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; i += 4096) byte[i] = pattern_byte(i, tag);
  if (bytes > 0) byte[bytes - 1] = pattern_byte(bytes - 1, tag);
}

inline bool check_sparse(const void* block, std::size_t bytes, std::uint64_t tag) noexcept {
  const auto* const byte = static_cast<const unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; i += 4096) {
    if (byte[i] != pattern_byte(i, tag)) return false;
  }
  return bytes == 0 || byte[bytes - 1] == pattern_byte(bytes - 1, tag);
}

inline bool all_zero(const void* block, std::size_t bytes) noexcept {
  const auto* const byte = static_cast<const unsigned char*>(block);
  return bytes == 0 || (byte[0] == 0 && std::memcmp(byte, byte + 1, bytes - 1) == 0);
}

inline bool aligned_to(const void* pointer, std::size_t alignment) noexcept {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (alignment - 1)) == 0;
}
}  // namespace drey::test
