// secure_path.hpp: what a secure build does instead of fast_path.hpp's hits and entry.cpp's answers.
//
//   take      the first block of the class's current slab, whose link must lead into the slab
//             entry: kNobodys -> usable bytes less `size`;  the tail is written behind the block
//   give back entry: must be a live block's -> kQuarantined;  the tails of this block and of the
//             one before it must be intact;  zero it;  quarantine;  the one that comes out of it:
//             entry -> kNobodys, into its slab's list or on its way to another thread's
// A block of B bytes for a request of n: [n bytes][up to 8 of fill, zeros][canary at B - 8].
// Linked in secure builds only. Read next: secure_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

#include <cstddef>

namespace drey::core {
struct Heap;

/// A block of `size` bytes, all zero. Fails: null, errno is ENOMEM.
[[nodiscard]] void* take_checked(std::size_t size) noexcept;
[[nodiscard]] void* take_aligned_checked(std::size_t alignment, std::size_t size) noexcept;

/// Gives back any pointer; reports what is no live block, and one whose surroundings were written.
void give_back_checked(void* pointer) noexcept;

/// core::reallocate(), usable_bytes(), owns(): of live blocks only. Exactly what was asked for may
/// be used.
[[nodiscard]] void* reallocate_checked(void* pointer, std::size_t size) noexcept;
[[nodiscard]] std::size_t usable_bytes_checked(const void* pointer) noexcept;
[[nodiscard]] bool owns_checked(const void* pointer) noexcept;

/// Reports a live block that was not taken with this size.
void report_wrong_size(const void* pointer, std::size_t size) noexcept;

/// Takes the first block off the slab's list. Requires: there is one. Fails: null, after a report.
[[nodiscard]] Block* unlink_checked(Slab* slab) noexcept;

/// Everything this thread's quarantine holds goes home. Requires: the heap's thread.
void flush_quarantine(Heap& heap) noexcept;
}  // namespace drey::core
