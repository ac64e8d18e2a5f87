// leak_report.cpp: see leak_report.hpp.
// SPDX-License-Identifier: MIT
#include "core/leak_report.hpp"

#include "core/entry.hpp"
#include "core/profile.hpp"
#include "core/report_writer.hpp"
#include "core/survey.hpp"

#include <dlfcn.h>

// Weak: a static program has no dynamic linker to ask.
extern "C" [[gnu::weak]] int dladdr(const void* address, Dl_info* info) noexcept;

namespace drey::core {
namespace {
/// Stacks told of, most bytes first, and frames of each.
constexpr std::size_t kStacksMax = 20;
constexpr std::size_t kFramesShown = 16;

void add_row(ReportWriter& report, std::uint64_t blocks, std::uint64_t bytes) noexcept {
  report.add_right(blocks, 10).add(blocks == 1 ? " block  " : " blocks ").add_right(bytes, 14);
  report.add(" bytes");
}

void add_frame(ReportWriter& report, std::uintptr_t address) noexcept {
  report.add("      ").add_hex(address);
  Dl_info info{};
  // The address is where the call returns to, so its last byte is the call's.
  const auto* const call = reinterpret_cast<const void*>(address - 1);
  if (&::dladdr != nullptr && ::dladdr(call, &info) != 0 && info.dli_fname != nullptr) {
    report.add(" ").add(info.dli_fname).add("+");
    report.add_hex(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    if (info.dli_sname != nullptr) report.add(" ").add(info.dli_sname);
  }
  report.add("\n");
}

[[nodiscard]] std::uint64_t rounded(double value) noexcept {
  return (static_cast<std::uint64_t>(2 * value) + 1) / 2;
}

struct LiveSite {
  const SampleSite* site;
  std::uint64_t samples, blocks, bytes;  // blocks and bytes: estimated from the samples
};

/// Puts `live` into its place among the `count` largest. Returns: the new count.
std::size_t insert(LiveSite (&largest)[kStacksMax], std::size_t count,
                   const LiveSite& live) noexcept {
  std::size_t place = count;
  while (place > 0 && largest[place - 1].bytes < live.bytes) --place;
  if (place == kStacksMax) return count;
  const std::size_t last = count < kStacksMax ? count : kStacksMax - 1;
  for (std::size_t index = last; index > place; --index) largest[index] = largest[index - 1];
  largest[place] = live;
  return last + 1;
}

void add_stacks(ReportWriter& report) noexcept {
  LiveSite largest[kStacksMax];
  std::size_t count = 0;
  SampleSite site;
  SiteCursor cursor;
  while (const SampleSite* const original = cursor.next(site)) {
    if (site.live_count == 0) continue;
    const double blocks = static_cast<double>(site.live_count) * weight_of_sample(site.block_bytes);
    const double bytes = blocks * static_cast<double>(site.block_bytes);
    count = insert(largest, count, {original, site.live_count, rounded(blocks), rounded(bytes)});
  }
  if (count != 0) report.add("  estimated from samples, by stack:\n");
  for (std::size_t index = 0; index < count; ++index) {
    const LiveSite& live = largest[index];
    report.add("  ");
    add_row(report, live.blocks, live.bytes);
    report.add(" of ").add(live.site->block_bytes).add(", ").add(live.samples);
    report.add(live.samples == 1 ? " sample\n" : " samples\n");
    for (std::size_t frame = 0; frame < live.site->frame_count && frame < kFramesShown; ++frame) {
      add_frame(report, live.site->frames()[frame]);
    }
  }
}
}  // namespace

void write_leak_report(int descriptor, const char* when) noexcept {
  collect();
  Survey survey;
  take_survey(survey);
  ReportWriter report(descriptor);
  report.add("drey: live ").add(when).add(": ").add(survey.live_blocks());
  report.add(survey.live_blocks() == 1 ? " block, " : " blocks, ").add(survey.live_bytes());
  report.add(" bytes\n");
  for (std::size_t index = 1; index < kClassCount; ++index) {
    const std::size_t live = survey.classes[index].live;
    if (live == 0) continue;
    const std::size_t block_bytes = size_of(static_cast<SizeClass>(index));
    add_row(report, live, live * block_bytes);
    report.add(" of ").add(block_bytes).add("\n");
  }
  if (survey.large_blocks != 0) {
    add_row(report, survey.large_blocks, survey.large_bytes);
    report.add(" on slices of their own\n");
  }
  if (survey.huge_blocks != 0) {
    add_row(report, survey.huge_blocks, survey.huge_bytes);
    report.add(" on mappings of their own\n");
  }
  add_stacks(report);
}
}  // namespace drey::core
