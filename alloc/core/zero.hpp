// zero.hpp: zeros for short blocks, faster than memset has chosen how.
// Read next: entry.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>

namespace drey::core {
/// Up to this a loop is done before memset would have chosen how.
inline constexpr std::size_t kZeroInlineBytesMax = 256;

/// Requires: a multiple of 16 bytes, not 0; 16-aligned.
[[gnu::always_inline]] inline void* zero_small(void* block, std::size_t bytes) noexcept {
  using Lane [[gnu::vector_size(16), gnu::may_alias]] = long long;
  if (bytes > kZeroInlineBytesMax) {
    asm("" : "+r"(bytes));  // else the compiler knows the range, and writes it with rep stos
    return std::memset(block, 0, bytes);
  }
  auto* lane = static_cast<Lane*>(block);
  const Lane* const end = lane + bytes / sizeof(Lane);
  do {
    *lane++ = Lane{};
    asm("" : "+r"(lane));  // else the compiler sees a memset, and calls it
  } while (lane != end);
  return block;
}
}  // namespace drey::core
