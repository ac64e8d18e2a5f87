// process.hpp: what is done once a process: options, slab map, fork handlers, statistics at exit.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// Before the first heap. Idempotent; any thread; works before constructors and inside the loader.
void start_process() noexcept;

/// fork.cpp: registers the handlers, once. In the constructor, while there is one thread, or with the
/// first heap if that comes sooner: before nearly every other
/// library's: handlers run before a fork in reverse order, and one that allocates must run before
/// ours lock.
void register_fork_handlers() noexcept;
}  // namespace drey::core
