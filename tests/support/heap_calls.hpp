// heap_calls.hpp: the calls that stress tests make, so that one source tests two ways in:
// the process's malloc (heap_calls_malloc.cpp: system, drey linked in or preloaded) and drey by its
// own names (heap_calls_drey.cpp: beside the system's malloc, also under sanitizers).
// Contract: as malloc and its family.
// Read next: random_ops.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace drey::test::heap {
void* take(std::size_t bytes);
void* take_zeroed(std::size_t bytes);
void* take_aligned(std::size_t alignment, std::size_t bytes);
void* resize(void* block, std::size_t bytes);
void give_back(void* block);
std::size_t usable_bytes(void* block);
/// Gives idle memory back to the system.
void trim();
}  // namespace drey::test::heap
