// profile_sites.hpp: two functions that take blocks, for stacks to be told apart by their names. In a
// file of their own, so that the compiler can neither merge, inline nor specialise them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

extern "C" {
void take_here(std::vector<void*>& blocks, std::size_t count, std::size_t size);
void take_there(std::vector<void*>& blocks, std::size_t count, std::size_t size);
}
