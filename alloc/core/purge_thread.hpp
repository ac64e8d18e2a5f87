// purge_thread.hpp: an opt-in thread that runs the purge ticks of a process nobody else wakes.
//
// Without it idle memory goes back when any thread comes by on a slow path; a process that sleeps
// keeps what it held. The option `purge_thread` asks for the thread; nothing else ever starts one.
// It blocks every signal, holds no lock while it sleeps, and is not there in a fork's child until
// the child asks the allocator for something slow.
// Read next: purge.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// Starts the thread if it is asked for and not there. Requires: the C library is ready for threads
/// (from the constructor on). Cost: two loads when there is nothing to do. Threads: any.
void start_purge_thread_if_asked() noexcept;

/// The constructor has run: from now on slow paths may start the thread.
void allow_purge_thread() noexcept;

/// In a fork's child: the thread is the parent's.
void forget_purge_thread() noexcept;
}  // namespace drey::core
