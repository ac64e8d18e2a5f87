// replay_report.cpp: the table, the JSON, the curve. Read next: replay_report.hpp.
// SPDX-License-Identifier: MIT
#include "replay/replay_report.hpp"

#include "race/format.hpp"
#include "race/report.hpp"
#include "race/statistics.hpp"
#include "race/text_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace drey::bench {
namespace {
using Json = nlohmann::ordered_json;

std::string trace_line(const ReplayResults& results) {
  const PlanFacts& facts = results.facts;
  std::string line =
      results.program + ": " + grouped(facts.events) + " events of " +
      plural(static_cast<int>(facts.threads), "thread") + " in " + fixed(facts.seconds, 3) +
      " s: " + grouped(facts.mallocs) + " malloc, " + grouped(facts.callocs) + " calloc, " +
      grouped(facts.aligned) + " aligned, " + grouped(facts.reallocs) + " realloc, " +
      grouped(facts.frees) + " free; at most " +
      fixed(mebibytes(static_cast<double>(facts.live_bytes_max)), 2) + " MiB live, " +
      grouped(facts.freed_by_other_thread) + " blocks freed by another thread";
  return line + (results.options.sequential ? "; replayed in one thread\n" : "\n");
}

/// What a reader should know of a trace that is not whole.
std::string notes(const ReplayResults& results) {
  const PlanFacts& facts = results.facts;
  std::string text;
  if (results.lost_count > 0) {
    text += "not recorded, for want of room: " + grouped(results.lost_count) + " events\n";
  }
  if (facts.unknown_frees > 0) {
    text +=
        "left out: " + grouped(facts.unknown_frees) + " frees of blocks the trace does not know\n";
  }
  if (facts.unrecorded_frees > 0) {
    text += "added: " + grouped(facts.unrecorded_frees) + " frees the trace does not have\n";
  }
  for (const Refusal& one : results.absent) {
    text += "not measured: " + one.program + ": " + one.reason + "\n";
  }
  return text;
}

Json summary_of(const std::vector<double>& samples) {
  const Summary summary = summarise(samples);
  return {{"median", summary.median},
          {"lower_quartile", summary.lower_quartile},
          {"upper_quartile", summary.upper_quartile},
          {"samples", samples}};
}

Json trace_json(const ReplayResults& results) {
  const PlanFacts& facts = results.facts;
  return {{"file", results.options.trace.string()},
          {"program", results.program},
          {"process", results.process},
          {"ended_in_order", results.ended_in_order},
          {"lost_events", results.lost_count},
          {"seconds", facts.seconds},
          {"threads", facts.threads},
          {"threads_alive_max", results.header.threads_alive_max},
          {"events", facts.events},
          {"mallocs", facts.mallocs},
          {"callocs", facts.callocs},
          {"aligned", facts.aligned},
          {"reallocs", facts.reallocs},
          {"frees", facts.frees},
          {"failed", facts.failed},
          {"unknown_frees", facts.unknown_frees},
          {"unrecorded_frees", facts.unrecorded_frees},
          {"put_in_order", facts.put_in_order},
          {"freed_by_other_thread", facts.freed_by_other_thread},
          {"live_bytes_max", facts.live_bytes_max},
          {"live_bytes_at_end", facts.live_bytes_at_end},
          {"live_blocks_at_end", facts.live_blocks_at_end}};
}
}  // namespace

std::string replay_text(const ReplayResults& results) {
  TextTable table({"allocator", "ns an event", "quartiles", "CPU ms", "wall ms", "peak RSS MiB",
                   "peak RSS / live", "at end MiB"});
  const auto live_max =
      static_cast<double>(std::max<std::uint64_t>(1, results.facts.live_bytes_max));
  for (const ReplayRow& row : results.rows) {
    const Summary event_ns = summarise(row.event_ns);
    table.add_row({row.allocator.name, fixed(event_ns.median, 2),
                   fixed(event_ns.lower_quartile, 2) + "-" + fixed(event_ns.upper_quartile, 2),
                   fixed(summarise(row.cpu_ns).median * 1e-6, 1),
                   fixed(summarise(row.wall_ns).median * 1e-6, 1),
                   fixed(mebibytes(row.resident_bytes_max()), 2),
                   fixed(row.resident_bytes_max() / live_max, 2),
                   fixed(mebibytes(row.resident_bytes_at_end()), 2)});
  }
  return trace_line(results) + "\n" + table.text() +
         "the empty replay: " + fixed(summarise(results.empty_cpu_ns).median * 1e-6, 1) +
         " ms of CPU, taken off above; " + plural(results.options.rounds, "round") + "\n" +
         notes(results);
}

std::string replay_json(const ReplayResults& results) {
  Json json = {{"format", 1},
               {"kind", "replay"},
               {"date", results.machine.date},
               {"command", results.machine.command},
               {"machine", machine_json(results.machine)},
               {"trace", trace_json(results)},
               {"sequential", results.options.sequential},
               {"rounds", results.options.rounds},
               {"empty_cpu_ns", summary_of(results.empty_cpu_ns)},
               {"allocators", Json::array()}};
  for (const ReplayRow& row : results.rows) {
    json["allocators"].push_back(
        {{"name", row.allocator.name},
         {"library", row.allocator.library},
         {"malloc_in", row.loaded},
         {"event_ns", summary_of(row.event_ns)},
         {"cpu_ns", summary_of(row.cpu_ns)},
         {"wall_ns", summary_of(row.wall_ns)},
         {"resident_bytes_max", row.resident_bytes_max()},
         {"resident_bytes_at_end", row.resident_bytes_at_end()},
         {"live_bytes_at_end", row.curve.empty() ? 0 : row.curve.back().live_bytes}});
  }
  for (const Refusal& one : results.absent) {
    json["absent"].push_back({{"name", one.program}, {"reason", one.reason}});
  }
  return json.dump(2) + "\n";
}

std::string replay_curve(const ReplayResults& results) {
  std::string text = "allocator,events,wall_ns,live_bytes,resident_bytes\n";
  for (const ReplayRow& row : results.rows) {
    for (const CurvePoint& point : row.curve) {
      text += row.allocator.name + "," + std::to_string(point.events) + "," +
              std::to_string(point.wall_ns) + "," + fixed(point.live_bytes, 0) + "," +
              fixed(point.resident_bytes, 0) + "\n";
    }
  }
  return text;
}
}  // namespace drey::bench
