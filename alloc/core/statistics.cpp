// statistics.cpp: see statistics.hpp.
// SPDX-License-Identifier: MIT
#include "core/statistics.hpp"

#include "core/entry.hpp"
#include "core/metadata.hpp"
#include "core/segment_store.hpp"
#include "core/survey.hpp"
#include "os/os.hpp"

#include <drey/base/version.hpp>

namespace drey::core {
namespace {
struct Field {
  const char* key;    ///< in JSON: the member's name
  const char* title;  ///< in text; null: not there
  std::uint64_t (*read)(const drey_stats_t& statistics) noexcept;
};

template <auto kMember>
std::uint64_t read(const drey_stats_t& statistics) noexcept {
  return statistics.*kMember;
}

constexpr Field kFields[] = {
    {"reserved_bytes", "reserved bytes", read<&drey_stats_t::reserved_bytes>},
    {"committed_bytes", "committed bytes", read<&drey_stats_t::committed_bytes>},
    {"metadata_bytes", "own bytes", read<&drey_stats_t::metadata_bytes>},
    {"slab_bytes", "in slabs", read<&drey_stats_t::slab_bytes>},
    {"large_bytes", "in large blocks", read<&drey_stats_t::large_bytes>},
    {"live_bytes", "live bytes", read<&drey_stats_t::live_bytes>},
    {"live_block_count", "live blocks", read<&drey_stats_t::live_block_count>},
    {"free_slab_bytes", "free in slabs", read<&drey_stats_t::free_slab_bytes>},
    {"idle_bytes", "idle bytes", read<&drey_stats_t::idle_bytes>},
    {"cached_bytes", "of them cached", read<&drey_stats_t::cached_bytes>},
    {"purged_bytes", "purged so far", read<&drey_stats_t::purged_bytes>},
    {"slab_count", "slabs", read<&drey_stats_t::slab_count>},
    {"large_block_count", "large blocks", read<&drey_stats_t::large_block_count>},
    {"huge_block_count", "huge blocks", read<&drey_stats_t::huge_block_count>},
    {"heap_count", "heaps made", read<&drey_stats_t::heap_count>},
    {"orphan_count", "without a thread", read<&drey_stats_t::orphan_count>},
    {"adopted_count", "adopted", read<&drey_stats_t::adopted_count>},
    {"remote_chain_count", "hand-overs", read<&drey_stats_t::remote_chain_count>},
    {"system_call_count", "system calls", read<&drey_stats_t::system_call_count>},
};

void count_runs(drey_stats_t& statistics, const Survey& survey) noexcept {
  for (const ClassCounts& counts : survey.classes) {
    statistics.slab_count += counts.slabs;
    statistics.slab_bytes += counts.slab_bytes;
  }
  statistics.large_bytes = survey.large_bytes + survey.huge_bytes;
  statistics.live_bytes = survey.live_bytes();
  statistics.live_block_count = survey.live_blocks();
  statistics.free_slab_bytes = survey.free_slab_bytes();
  statistics.large_block_count = survey.large_blocks;
  statistics.huge_block_count = survey.huge_blocks;
}

void read_both(drey_stats_t& statistics, Survey& survey) noexcept {
  const SegmentStore::Totals totals = segment_store.totals();
  const HeapCounts counts = count_heaps();
  statistics = {};
  statistics.reserved_bytes = totals.reserved_bytes;
  statistics.metadata_bytes = metadata_bytes();
  statistics.committed_bytes = totals.committed_bytes + statistics.metadata_bytes;
  statistics.cached_bytes = counts.cached_bytes;
  statistics.idle_bytes = totals.idle_bytes + counts.cached_bytes;
  statistics.purged_bytes = segment_store.purged_bytes();
  statistics.heap_count = counts.heaps;
  statistics.orphan_count = counts.orphans;
  statistics.adopted_count = counts.adopted;
  statistics.remote_chain_count = counts.remote_chains;
  statistics.system_call_count = os::system_call_count();
  take_survey(survey);
  count_runs(statistics, survey);
}

void add_classes_json(ReportWriter& report, const Survey& survey) noexcept {
  const char* separator = "";
  for (std::size_t index = 1; index < kClassCount; ++index) {
    const ClassCounts& counts = survey.classes[index];
    if (counts.slabs == 0) continue;
    const std::size_t block_bytes = size_of(static_cast<SizeClass>(index));
    report.add(separator).add("{\"block_bytes\":").add(block_bytes);
    report.add(",\"slabs\":").add(counts.slabs).add(",\"slab_bytes\":").add(counts.slab_bytes);
    report.add(",\"live_blocks\":").add(counts.live);
    report.add(",\"free_blocks\":").add(counts.capacity - counts.live);
    report.add(",\"live_bytes\":").add(counts.live * block_bytes);
    report.add(",\"free_bytes\":").add(counts.slab_bytes - counts.live * block_bytes).add("}");
    separator = ",";
  }
}

void add_map_row(ReportWriter& report, std::size_t block_bytes,
                 const ClassCounts& counts) noexcept {
  const std::size_t live_bytes = counts.live * block_bytes;
  report.add_right(block_bytes, 10).add_right(counts.slabs, 9).add_right(counts.live, 12);
  report.add_right(counts.capacity - counts.live, 12).add_right(live_bytes, 15);
  report.add_right(counts.slab_bytes, 15).add("   ");
  report.add_percent(counts.slab_bytes - live_bytes, counts.slab_bytes).add(" %\n");
}

void add_run_row(ReportWriter& report, const char* title, std::size_t count,
                 std::size_t bytes) noexcept {
  report.add_left(title, 10).add_right(count, 9).add("   ").add(bytes).add(" bytes\n");
}
}  // namespace

void read_statistics(drey_stats_t& statistics) noexcept {
  Survey survey;
  read_both(statistics, survey);
}

void add_statistics_text(ReportWriter& report) noexcept {
  drey_stats_t statistics;
  read_statistics(statistics);
  report.add("drey ").add(kVersionText).add("\n");
  for (const Field& field : kFields) {
    report.add("  ").add_left(field.title, 18).add(field.read(statistics)).add("\n");
  }
}

void add_statistics_json(ReportWriter& report) noexcept {
  drey_stats_t statistics;
  Survey survey;
  read_both(statistics, survey);
  report.add("{\"allocator\":\"drey\",\"version\":\"").add(kVersionText).add("\"");
  for (const Field& field : kFields) {
    report.add(",\"").add(field.key).add("\":").add(field.read(statistics));
  }
  report.add(",\"classes\":[");
  add_classes_json(report, survey);
  report.add("],\"cached\":{\"runs\":").add(survey.cached_runs);
  report.add(",\"bytes\":").add(survey.cached_bytes);
  report.add("},\"large\":{\"blocks\":").add(survey.large_blocks);
  report.add(",\"bytes\":").add(survey.large_bytes);
  report.add("},\"huge\":{\"blocks\":").add(survey.huge_blocks);
  report.add(",\"bytes\":").add(survey.huge_bytes).add("}}\n");
}

void add_class_map(ReportWriter& report) noexcept {
  Survey survey;
  take_survey(survey);
  report.add("     block    slabs        live        free     live bytes     slab bytes   free\n");
  for (std::size_t index = 1; index < kClassCount; ++index) {
    if (survey.classes[index].slabs == 0) continue;
    add_map_row(report, size_of(static_cast<SizeClass>(index)), survey.classes[index]);
  }
  add_run_row(report, "  large", survey.large_blocks, survey.large_bytes);
  add_run_row(report, "  huge", survey.huge_blocks, survey.huge_bytes);
  add_run_row(report, "  cached", survey.cached_runs, survey.cached_bytes);
}
}  // namespace drey::core
