// secure.hpp: is this a secure build, and the secrets of one.
//
// Invariants: in a secure build a free block's link is stored encoded, so that a link written by
// anybody else decodes to nonsense; every byte of a free block but its link is zero. Elsewhere
// encode() is the identity and costs nothing.
// Read next: slab.hpp, secure_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drey::core {
#if defined(DREY_SECURE) && DREY_SECURE
inline constexpr bool kSecure = true;
#else
inline constexpr bool kSecure = false;
#endif

/// What a secure build knows of the 16 bytes at an address where a block may begin: kNobodys,
/// kQuarantined, or, of a live block, its usable bytes less the bytes asked for (kTailBytes or more).
/// Relaxed everywhere: who holds the block has seen it; a double free is a race that it finds.
using BlockEntry = std::atomic<std::uint16_t>;
inline constexpr std::uint16_t kNobodys = 0;
inline constexpr std::uint16_t kQuarantined = 1;

/// Drawn once a process, before the first block.
struct Secrets {
  std::uintptr_t link;   ///< encodes links
  std::uint64_t canary;  ///< what stands behind blocks
};
[[gnu::visibility("hidden")]] extern constinit Secrets secrets;

/// Draws them. Requires: the store's lock, no block yet.
void draw_secrets() noexcept;

/// The next of a sequence nobody can foretell. Threads: any; two at once may see the same number.
[[nodiscard]] std::uint64_t random_number() noexcept;

/// A link as it is stored at `place`, and back.
[[nodiscard]] inline std::uintptr_t encode(std::uintptr_t link, const void* place) noexcept {
  if constexpr (kSecure) return link ^ secrets.link ^ (address_of(place) << 12);
  return link;
}
}  // namespace drey::core
