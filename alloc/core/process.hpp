// process.hpp: what is done once a process: options, slab map, fork handlers, statistics at exit.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::core {
/// Before the first heap. Idempotent; any thread; works before constructors and inside the loader.
void start_process() noexcept;

/// fork.cpp: registers the handlers. Called once, from the library's constructor, since registering
/// may allocate.
void register_fork_handlers() noexcept;
}  // namespace drey::core
