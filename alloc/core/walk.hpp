// walk.hpp: every part of the heap and every live block in it, told to a callback.
//
// A slab's live blocks are those carved that are in none of: its list, its remote chain, an outbox.
// So what other threads freed is not live here, even where its owner does not know yet.
// Threads: the calling thread's slabs at any time; the whole process only while no other thread
// allocates or frees. No lock is held in the callback, which may itself allocate and free: what it
// frees may still be told of if it lies in the slab being told, what it takes may not.
// Read next: survey.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/observe.h>

namespace drey::core {
/// Returns: false if the callback ended it.
bool walk_heap(drey_walk_scope_t scope, drey_walk_callback_t callback, void* argument) noexcept;
}  // namespace drey::core
