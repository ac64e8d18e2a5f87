// hazard.hpp: what the simulated device found wrong, and with whom it lies.
// Invariant: a hazard depends on the order of the calls alone, never on how fast anything ran: two
// uses of memory are unordered if no chain of streams, events and waits orders them, whether or not
// they happened to overlap.
// Read next: simulator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace drey::cuda::sim {
enum class HazardKind {
  kReuse,           ///< memory of a new block is used, unordered after a use of the block before it
  kOverlap,         ///< memory handed out that a live block has
  kUseAfterFree,    ///< work submitted after the free uses the block
  kOutOfBounds,     ///< work reaches beyond the bytes that were asked for
  kUnmapped,        ///< work uses addresses without memory
  kNoAccess,        ///< work of a device uses memory that it was given no access to
  kUnmapPending,    ///< memory unmapped or freed while work that uses it may still run
  kUnmapLive,       ///< memory unmapped or freed under a live block
  kGraph,           ///< a graph's replay uses memory that is no longer its own
  kIllegalCapture,  ///< a call that breaks the capture it was made in
  kBadFree,         ///< a free of what is no live block
};

enum class Blame {
  kAllocator,  ///< the user kept the contract (cuda/README.md); the allocator did not
  kUser,       ///< the user did not keep it: a free promised too much, or came too early
  kCaller,     ///< who made the driver call; the simulator cannot tell the two apart
};

struct Hazard {
  HazardKind kind;
  Blame blame;
  std::uint64_t call;  ///< number of the driver call or launch that showed it, from 1
  std::string text;    ///< one line: both uses, their streams and calls, the free between them
};

[[nodiscard]] const char* name_of(HazardKind kind) noexcept;
[[nodiscard]] const char* name_of(Blame blame) noexcept;
}  // namespace drey::cuda::sim
