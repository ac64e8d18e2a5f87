// purge.hpp: idle memory goes back to the system by the clock, driven by whoever comes by on a slow
// path.
//
// One tick every half purge delay: cached runs that were there at the last tick go to the store,
// and slices idle since the last tick go to the system (see segment_store.hpp).
// Requires: no lock of the allocator is held by the caller.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// Runs the tick if it is due. Cost: a clock read when it is not. Threads: any.
void purge_if_due() noexcept;

/// Gives everything idle back now.
void purge_all() noexcept;
}  // namespace drey::core
