// process.cpp: see process.hpp. The constructor reads the options that the first allocation, inside
// the loader, came too early for, and registers the fork handlers while there is one thread.
// SPDX-License-Identifier: MIT
#include "core/process.hpp"

#include "core/exit_reports.hpp"
#include "core/options.hpp"
#include "core/purge_thread.hpp"
#include "core/segment_store.hpp"

namespace drey::core {
namespace {
[[gnu::constructor(101)]] void complete_start() {
  // While there is one thread: a fork that comes between another thread's first block and its
  // registration would leave the child with locks that nobody holds any more.
  register_fork_handlers();
  read_options();
  prepare_exit_reports();
  allow_purge_thread();
  start_purge_thread_if_asked();
}

[[gnu::destructor]] void report_at_exit() {
  write_exit_reports();
}
}  // namespace

void start_process() noexcept {
  read_options();
  register_fork_handlers();
  segment_store.open();
}
}  // namespace drey::core
