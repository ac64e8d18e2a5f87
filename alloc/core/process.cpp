// process.cpp: see process.hpp. The constructor only completes what the first allocation could not
// do inside the loader; nothing depends on its having run.
// SPDX-License-Identifier: MIT
#include "core/process.hpp"

#include "core/options.hpp"
#include "core/segment_store.hpp"

#include <drey/alloc.h>

namespace drey::core {
namespace {
[[gnu::constructor(101)]] void complete_start() {
  read_options();
}

[[gnu::destructor]] void show_statistics_at_exit() {
  if (options.show_stats.load(std::memory_order_relaxed)) drey_stats_print();
}
}  // namespace

void start_process() noexcept {
  read_options();
  segment_store.open();
  register_fork_handlers();
}
}  // namespace drey::core
