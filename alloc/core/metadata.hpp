// metadata.hpp: memory for heaps and descriptors of huge blocks: small, never given back, so that a
// pointer to one stays readable for ever (the remote-free protocol relies on it).
// Invariant: what it hands out is zero.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::core {
/// Takes zeroed bytes for the process's life. Fails: null. Threads: any (its own lock).
[[nodiscard]] void* take_metadata(std::size_t bytes, std::size_t alignment) noexcept;

/// Bytes handed out so far.
[[nodiscard]] std::size_t metadata_bytes() noexcept;

/// The lock, for the fork handlers.
void acquire_metadata_lock() noexcept;
void release_metadata_lock() noexcept;
}  // namespace drey::core
