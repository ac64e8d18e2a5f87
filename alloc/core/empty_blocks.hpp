// empty_blocks.hpp: what malloc(0) returns in a secure build: addresses, 16 bytes apart, that cannot
// be read or written.
//
// They are taken in turn from slices without access, whose entries say which are held; an address
// comes back only when all others of its slice were handed out.
// Threads: any; the store's lock, so not made for programs that live on malloc(0).
// Read next: secure_path.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/slab.hpp"

namespace drey::core {
/// Fails: null.
[[nodiscard]] void* take_empty_block() noexcept;

/// Gives one back. Fails: false; `pointer` is none that is held. Requires: slab->state is kEmpty.
[[nodiscard]] bool give_back_empty_block(Slab* slab, const void* pointer) noexcept;

/// True if it is held.
[[nodiscard]] bool is_empty_block(const Slab* slab, const void* pointer) noexcept;
}  // namespace drey::core
