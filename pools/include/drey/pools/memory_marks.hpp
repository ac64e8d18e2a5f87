// memory_marks.hpp: tells AddressSanitizer and Valgrind which bytes of a pool or arena are in use.
//
// Whether anybody watches is asked of the process when it runs: a program built with the sanitizer
// finds bad accesses even where the library was built without. Invariant: unwatched, nothing here
// is called on a hit; a watched arena has no hits at all, so the hit pays nothing for this.
// Memory goes back to the allocator usable: who gives a block back marks it so.
// Read next: arena.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey {
/// True if AddressSanitizer is in this process, or Valgrind runs it. The same all its life.
[[nodiscard]] bool memory_is_watched() noexcept;

/// From now on an access is an error, until mark_usable(). Requires: 8-aligned, for all to be seen.
[[gnu::cold]] void mark_unusable(const void* pointer, std::size_t bytes) noexcept;

/// May be written from now on; what is there counts as never written.
[[gnu::cold]] void mark_usable(const void* pointer, std::size_t bytes) noexcept;
}  // namespace drey
