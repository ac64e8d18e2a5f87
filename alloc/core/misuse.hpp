// misuse.hpp: what happens when the caller is wrong: one line to standard error that names what and
// which pointer, then abort; with DREY_ON_ERROR=warn the line only, and the call does nothing.
//   "drey: invalid free: 0x7f12... is not a block"
// Read next: entry.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// A pointer that cannot be what the call needs. Returns only where DREY_ON_ERROR=warn.
[[gnu::cold]] void report_misuse(const char* what, const void* pointer) noexcept;

/// The same for any finding: "drey: <what>: 0x<pointer> <finding>".
[[gnu::cold]] void report_finding(const char* what, const void* pointer,
                                  const char* finding) noexcept;

/// The heap itself was found damaged, by a double free or a write after free.
[[gnu::cold]] void report_corruption(const char* what, const void* pointer) noexcept;

/// A pointer that no slab knows: to the foreign hook, or reported.
[[gnu::cold]] void give_back_foreign(void* pointer) noexcept;
[[gnu::cold]] void* reallocate_foreign(void* pointer, unsigned long size) noexcept;
}  // namespace drey::core
