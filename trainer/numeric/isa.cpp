// isa.cpp: see isa.hpp. Sources: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, chapter 18 (AMX); linux/Documentation/arch/x86/xstate.rst (permission for tiles).
// SPDX-License-Identifier: MIT
#include "trainer/numeric/isa.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include "trainer/data/error.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace drey::trainer {
namespace {
using Flags = std::array<bool, kIsaCount>;
constexpr std::array<const char*, kIsaCount> kNames = {"portable", "avx2", "avx512", "avx512bf16",
                                                       "amx"};

#if defined(__x86_64__)
/// AMX's tiles of bfloat16, and the kernel's leave to use them.
bool has_tiles() {
  constexpr unsigned kTilesAndBrain = (1U << 24) | (1U << 22);  // leaf 7, EDX
  constexpr long kRequestPermission = 0x1023;                   // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;                                // XFEATURE_XTILE_DATA
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kTilesAndBrain) != kTilesAndBrain) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

Flags ask_machine() {
  __builtin_cpu_init();
  Flags has{};
  has[0] = true;
  has[1] = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  has[2] = has[1] && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0;
  has[3] = has[2] && __builtin_cpu_supports("avx512bf16") != 0;
  has[4] = has[3] && has_tiles();
  return has;
}
#else
Flags ask_machine() {
  return {true};
}
#endif

const Flags& machine_flags() {
  static const Flags flags = ask_machine();
  return flags;
}

std::string names_of_supported() {
  std::string names;
  for (int index = 0; index < kIsaCount; ++index) {
    if (!is_supported(static_cast<Isa>(index))) continue;
    if (!names.empty()) names += ", ";
    names += kNames[static_cast<std::size_t>(index)];
  }
  return names;
}
}  // namespace

const char* name_of(Isa isa) {
  return kNames[static_cast<std::size_t>(isa)];
}

bool is_supported(Isa isa) {
  return machine_flags()[static_cast<std::size_t>(isa)];
}

Isa best_isa() {
  int best = kIsaCount - 1;
  while (!is_supported(static_cast<Isa>(best))) --best;
  return static_cast<Isa>(best);
}

Isa chosen_isa() {
  const char* const wanted = std::getenv("DREY_ISA");
  if (wanted == nullptr) return best_isa();
  for (int index = 0; index < kIsaCount; ++index) {
    const auto isa = static_cast<Isa>(index);
    if (std::string(wanted) == name_of(isa) && is_supported(isa)) return isa;
  }
  throw ConfigError("DREY_ISA: expected one that this machine has: " + names_of_supported() +
                    "; found '" + wanted + "'");
}
}  // namespace drey::trainer
