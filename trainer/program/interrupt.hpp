// interrupt.hpp: Ctrl-C and kill end a run between two steps, so that its checkpoint is exact.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::trainer {
/// From now on SIGINT and SIGTERM are noted; a second one ends the process at once.
void watch_for_interrupts() noexcept;

/// Whether one came. Cost: one load.
[[nodiscard]] bool interrupt_requested() noexcept;
}  // namespace drey::trainer
