// oom_report.cpp: why an allocation failed: what is held and by what it is held; see statistics.hpp.
// SPDX-License-Identifier: MIT
#include "policy/allocator_state.hpp"

#include <drey/base/text.hpp>

#include <algorithm>

namespace drey::cuda {
namespace {
void add_mib(Text<2048>& text, const char* name, std::uint64_t bytes) noexcept {
  text.add(name).add_milli(bytes * 1000 / (std::uint64_t{1} << 20)).add(" MiB");
}

const char* advice_for(const OomReport& report) noexcept {
  const MemorySplit& split = report.split;
  if (report.limit != 0 && report.rounded > report.limit)
    return "the request is larger than the limit";
  if (report.others > report.rounded && report.others > split.live)
    return "most of the device is in use outside this allocator: other processes or libraries";
  if (split.hard >= report.rounded)
    return "enough is free, but on pages that live blocks share: free the small blocks between the "
           "large ones, or open with pages_of_large = 1";
  if (split.pools >= report.rounded)
    return "enough is free, but in pools: release those whose graphs are gone, or mark them for "
           "use when out of memory";
  if (split.stream >= report.rounded)
    return "enough is free, but work may still use it and cannot be waited for now";
  if (report.headroom != 0 && report.device_free > report.rounded)
    return "the headroom is kept free";
  return "live blocks fill the limit: free some, or raise it";
}
}  // namespace

MemorySplit AllocatorState::split(std::uint64_t* pending_blocks,
                                  std::uint64_t* largest_free) noexcept {
  close_caches();
  MemorySplit split;
  const BlockTable& blocks = heap.blocks();
  for (BlockIndex index = blocks.first(); index != kNoBlock; index = blocks[index].after) {
    const Block& block = blocks[index];
    const std::uint64_t bytes = block.granules * kGranuleBytes;
    const BlockState state = BlockTable::state_of(block);
    if (state == BlockState::kLive) split.live += bytes;
    if (state == BlockState::kMagazine) split.magazines += bytes;
    if (state != BlockState::kFree) continue;
    if (block.pool != 0) {
      split.pools += bytes;
      continue;
    }
    *largest_free = std::max(*largest_free, bytes);
    if (!heap.is_past(block)) {
      split.stream += bytes;
      ++*pending_blocks;
      continue;
    }
    const std::uint64_t soft = heap.whole_pages(block).count * store.page_bytes();
    split.soft += soft;
    split.hard += bytes - soft;
  }
  split.spare = (store.counts().spare + store.counts().stuck) * store.page_bytes();
  return split;
}

void AllocatorState::fill_report(const Climb& climb, OomReport* report) noexcept {
  if (report == nullptr) return;
  *report = {};
  report->requested = climb.bytes;
  report->rounded = climb.request.granules * kGranuleBytes;
  report->device = config.device;
  report->driver_result = static_cast<unsigned>(climb.last_driver);
  report->limit = store.limit_pages() * store.page_bytes();
  report->headroom = config.limits.headroom;
  report->reserved = store.counts().held() * store.page_bytes();
  report->device_total = device_bytes_;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  DriverScope scope(*driver_, context_, captures.count() != 0);
  if (scope.need() == Result::kSuccess &&
      driver_->mem_get_info(&free_bytes, &total_bytes) == Result::kSuccess) {
    report->device_free = free_bytes;
    const std::uint64_t known = free_bytes + report->reserved;
    report->others = total_bytes > known ? total_bytes - known : 0;
  }
  std::copy(std::begin(climb.gained), std::end(climb.gained), std::begin(report->gained));
  report->split = split(&report->stream_blocks, &report->largest_free);
  open_cache(climb.cache);
}

std::size_t text_of(const OomReport& report, char* out, std::size_t size) noexcept {
  Text<2048> text;
  text.add("device ").add(static_cast<std::uint64_t>(report.device)).add(": ");
  text.add(report.requested).add(" bytes asked for, ").add(report.rounded).add(" needed\n");
  add_mib(text, "limit ", report.limit);
  add_mib(text, ", held ", report.reserved);
  add_mib(text, "; device total ", report.device_total);
  add_mib(text, ", free ", report.device_free);
  add_mib(text, ", others ", report.others);
  add_mib(text, "\nlive ", report.split.live);
  add_mib(text, ", magazines ", report.split.magazines);
  add_mib(text, ", stream ", report.split.stream);
  text.add(" in ").add(report.stream_blocks).add(" blocks");
  add_mib(text, ", soft ", report.split.soft);
  add_mib(text, ", hard ", report.split.hard);
  add_mib(text, ", pools ", report.split.pools);
  add_mib(text, ", spare ", report.split.spare);
  add_mib(text, "; largest free block ", report.largest_free);
  text.add("\nsteps:");
  for (std::size_t step = 0; step < kLadderSteps; ++step) {
    if (report.gained[step] == 0) continue;
    text.add(" ").add(name_of(static_cast<LadderStep>(step))).add(" ");
    add_mib(text, "", report.gained[step]);
  }
  if (report.driver_result != 0)
    text.add(" driver's result ").add(static_cast<std::uint64_t>(report.driver_result));
  text.add("\n").add(advice_for(report));
  if (size != 0) {
    const std::size_t count = std::min(text.length(), size - 1);
    std::copy_n(text.c_str(), count, out);
    out[count] = '\0';
  }
  return text.length();
}

const char* name_of(LadderStep step) noexcept {
  constexpr const char* kNames[kLadderSteps] = {
      "magazine", "same stream", "other stream", "collect", "grow",     "flush",
      "steal",    "dependency",  "synchronise",  "release", "callback", "pools"};
  return kNames[static_cast<std::size_t>(step)];
}
}  // namespace drey::cuda
