// active_allocator.hpp: which allocator this process really uses, and how it came to it.
//
// Invariant: the answer is asked of the running process (whose malloc do the calls of this program
// reach, and does that allocator know a block taken from malloc?), never of the build.
// In a target of its own, drey::active_allocator, because it needs the dynamic loader.
// Read next: active_allocator.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/text.hpp>

namespace drey {
/// The answer. Everything in it is a copy or a constant: it stays valid.
struct ActiveAllocator {
  const char* name;  ///< "drey", "glibc", "mimalloc", "jemalloc", "tcmalloc" or "unknown"
  Text<64> version;  ///< as the allocator gives it, "2.0.9"; empty if unknown
  Text<512> how;     ///< "linked into the program", "preloaded: /path", "shared library: /path"
                     ///< or "the C library"; after "counted, " where heap calls are counted on
                     ///< the way; a long path is cut
};

/// Asks the process. Takes and gives back one block.
/// Threads: any. Cost: some microseconds; it may allocate by way of the dynamic loader.
[[nodiscard]] ActiveAllocator active_allocator() noexcept;
}  // namespace drey
