// expected_messages.hpp: what drey says about misuse, word for word: the one place that knows.
// A report is one line on standard error, "drey: <what>: 0x<pointer> <finding>", then an abort, or
// nothing more with DREY_ON_ERROR=warn. The finding may grow; <what> is what people search for.
// Read next: misuse_child.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace drey::test {
inline constexpr const char* kInvalidFree = "invalid free";
inline constexpr const char* kDoubleFree = "double free";
/// A large block that was freed is no block any more; its place may be known as freed, or not at
/// all.
inline constexpr const char* kDoubleFreeOfReturned = "(?:double|invalid) free";
inline constexpr const char* kInvalidRealloc = "realloc of invalid pointer";
inline constexpr const char* kInvalidUsableSize = "usable size of invalid pointer";
inline constexpr const char* kOverflow = "overflow";
inline constexpr const char* kUnderflow = "underflow";
inline constexpr const char* kWrongSize = "wrong size";
inline constexpr const char* kWrittenFreeList = "free list";

/// Matches the whole report of `what`, to the end of its line.
inline std::string report_pattern(const std::string& what) {
  return "drey: " + what + ": 0x[0-9a-f]+[^\n]*\n";
}
}  // namespace drey::test
