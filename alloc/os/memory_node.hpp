// memory_node.hpp: on which of the machine's memory nodes a thread runs and memory lies (NUMA).
//
// Contract: as os.hpp: noexcept, errno kept, nothing allocates, no cancellation point. On a machine
// with one node, and where the kernel tells nothing, everything is node 0.
// Tests link tests/support/fake_os.cpp instead of memory_node_linux.cpp.
// Read next: memory_node_linux.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::os {
/// True if more than one node is online. Cost: reads a file.
[[nodiscard]] bool has_memory_nodes() noexcept;

/// Node of the processor that the calling thread runs on now. Cost: no system call.
[[nodiscard]] unsigned memory_node() noexcept;

/// Asks for the pages of a reservation, once they are touched, to come from `node` while it has some.
/// A wish: it may be refused, and other nodes' memory is better than none.
void wish_memory_node(void* start, std::size_t bytes, unsigned node) noexcept;
}  // namespace drey::os
