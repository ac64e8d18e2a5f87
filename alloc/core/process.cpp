// process.cpp: see process.hpp. The constructor reads the options that the first allocation, inside
// the loader, came too early for, and registers the fork handlers while there is one thread.
// SPDX-License-Identifier: MIT
#include "core/process.hpp"

#include "core/options.hpp"
#include "core/purge_thread.hpp"
#include "core/segment_store.hpp"

#include <drey/alloc.h>

namespace drey::core {
namespace {
[[gnu::constructor(101)]] void complete_start() {
  // While there is one thread: a fork that comes between another thread's first block and its
  // registration would leave the child with locks that nobody holds any more.
  register_fork_handlers();
  read_options();
  allow_purge_thread();
  start_purge_thread_if_asked();
}

[[gnu::destructor]] void show_statistics_at_exit() {
  if (options.show_stats.load(std::memory_order_relaxed)) drey_stats_print();
}
}  // namespace

void start_process() noexcept {
  read_options();
  register_fork_handlers();
  segment_store.open();
}
}  // namespace drey::core
