// malloc_information.cpp: reads the counters and puts them in the places programs look.
// Read next: malloc_information.hpp.
// SPDX-License-Identifier: MIT
#include "override/malloc_information.hpp"

#include "core/entry.hpp"

#include <drey/alloc.h>
#include <drey/base/version.hpp>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace drey::override {
namespace {
[[nodiscard]] drey_stats_t read() noexcept {
  drey_stats_t stats;
  core::read_statistics(stats);
  return stats;
}

[[nodiscard]] constexpr int clamp_to_int(std::size_t value) noexcept {
  return value > INT_MAX ? INT_MAX : static_cast<int>(value);
}
}  // namespace

struct mallinfo2 information() noexcept {
  const drey_stats_t stats = read();
  struct mallinfo2 result {};
  result.arena = stats.slab_bytes + stats.idle_bytes;
  result.uordblks = stats.slab_bytes - stats.free_slab_bytes;
  result.fordblks = stats.free_slab_bytes + stats.idle_bytes;
  result.hblks = stats.large_block_count + stats.huge_block_count;
  result.hblkhd = stats.large_bytes;
  result.keepcost = stats.idle_bytes;
  return result;
}

struct mallinfo information_in_ints() noexcept {
  const struct mallinfo2 wide = information();
  struct mallinfo result {};
  result.arena = clamp_to_int(wide.arena);
  result.uordblks = clamp_to_int(wide.uordblks);
  result.fordblks = clamp_to_int(wide.fordblks);
  result.hblks = clamp_to_int(wide.hblks);
  result.hblkhd = clamp_to_int(wide.hblkhd);
  result.keepcost = clamp_to_int(wide.keepcost);
  return result;
}

int write_information(int options, std::FILE* stream) noexcept {
  if (options != 0) return EINVAL;
  const drey_stats_t stats = read();
  const int written =
      std::fprintf(stream,
                   "<malloc version=\"1\" allocator=\"drey %s\">\n"
                   "<system type=\"reserved\" size=\"%zu\"/>\n"
                   "<system type=\"current\" size=\"%zu\"/>\n"
                   "<total type=\"slab\" size=\"%zu\"/>\n"
                   "<total type=\"large\" size=\"%zu\"/>\n"
                   "<total type=\"idle\" size=\"%zu\"/>\n"
                   "<total type=\"live\" count=\"%ju\" size=\"%zu\"/>\n"
                   "<total type=\"heap\" count=\"%ju\"/>\n"
                   "</malloc>\n",
                   kVersionText, stats.reserved_bytes, stats.committed_bytes, stats.slab_bytes,
                   stats.large_bytes, stats.idle_bytes, std::uintmax_t{stats.live_block_count},
                   stats.live_bytes, std::uintmax_t{stats.heap_count});
  return written < 0 ? EIO : 0;
}

bool trim() noexcept {
  const std::uint64_t purged_bytes_before = read().purged_bytes;
  core::collect();
  return read().purged_bytes != purged_bytes_before;
}
}  // namespace drey::override
