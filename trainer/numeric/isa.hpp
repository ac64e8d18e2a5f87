// isa.hpp: which of the instruction sets that there are kernels for this machine has, found once.
// Invariants: what is chosen is supported; nothing is chosen silently against the user's word.
// Included by files compiled for one set each, so: no inline function (see kernels/tile.hpp).
// Read next: kernels/kernels.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace drey::trainer {
/// Each one includes those before it.
enum class Isa : std::uint8_t {
  kPortable,  ///< what the compiler makes of plain C++ for any machine of this family
  kAvx2,      ///< and FMA
  kAvx512,    ///< F, BW, DQ and VL
  kAvx512Bf16,
  kAmx  ///< tiles of bfloat16; the kernel must also have granted their state
};
inline constexpr int kIsaCount = 5;

/// As DREY_ISA spells it.
const char* name_of(Isa isa);

/// Whether processor and kernel have it. Threads: any. Cost: asks once.
bool is_supported(Isa isa);

/// The last one that is supported.
Isa best_isa();

/// What the environment variable DREY_ISA asks for; best_isa() where it is not set.
/// Fails: ConfigError when it names none, or one that this machine has not.
Isa chosen_isa();
}  // namespace drey::trainer
