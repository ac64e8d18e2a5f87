// purge.hpp: idle memory goes back to the system by the clock, driven by whoever comes by on a slow
// path.
//
// One tick every half purge delay: cached runs that were there at the last tick go to the store,
// and slices idle since the last tick go to the system (see segment_store.hpp). A heap's empty slabs
// are its own thread's: it returns them the first time it comes by after a tick.
// Requires: no lock of the allocator is held by the caller.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
struct Heap;

/// run_due_ticks(), then trim_if_ticked() for the calling thread's heap.
void purge_if_due() noexcept;

/// Runs the ticks that are due. Cost: a clock read when none is. Threads: any.
void run_due_ticks() noexcept;

/// Trims the heap once a tick, whoever ran it. Threads: the heap's.
void trim_if_ticked(Heap& heap) noexcept;

/// Gives everything idle back now.
void purge_all() noexcept;
}  // namespace drey::core
