// report.cpp: see report.hpp.
// SPDX-License-Identifier: MIT
#include "replay/report.hpp"

#include <drey/cuda/trace/json_text.hpp>

#include <cstdio>

namespace drey::cuda::replay {
namespace {
constexpr double kMiB = 1 << 20;

double over_live(const Report& report, std::uint64_t bytes) {
  return report.peak_live_bytes == 0
             ? 0
             : static_cast<double>(bytes) / static_cast<double>(report.peak_live_bytes);
}

void add_run(trace::JsonText& json, const char* name, const Report& report, const Run& run) {
  json.open('{', name);
  json.add("peak_reserved_bytes", run.counts.peak_reserved_bytes);
  json.add("peak_reserved_over_peak_live", over_live(report, run.counts.peak_reserved_bytes));
  json.add("page_moves", run.counts.page_moves);
  json.add("moved_bytes", run.counts.moved_bytes);
  json.add("driver_calls", run.counts.driver_calls);
  json.add("events_recorded", run.counts.events);
  json.add("stream_waits", run.counts.waits);
  json.close('}');
}
}  // namespace

Report replay_all(const std::string& source, const trace::DeviceTrace& trace,
                  const std::vector<PolicyKind>& kinds) {
  Report report;
  report.source = source;
  report.events = trace.events.size();
  report.blocks = trace.blocks;
  report.streams = trace.streams;
  report.peak_live_bytes = trace::peak_live_bytes(trace);
  for (const PolicyKind& kind : kinds) {
    report.results.push_back({kind, run_trace(trace, kind.make, kNoLimit),
                              search_capacity(trace, kind.make, kSearchStep), 0});
    PolicyResult& result = report.results.back();
    result.cpu_ns_per_event = kind.make_timed == nullptr
                                  ? result.unlimited.cpu_ns_per_event
                                  : run_trace(trace, kind.make_timed, kNoLimit).cpu_ns_per_event;
  }
  return report;
}

std::string table_of(const Report& report) {
  char line[200];
  std::snprintf(line, sizeof line, "%s: %zu events, %u blocks, %u streams, peak live %.1f MiB\n",
                report.source.c_str(), report.events, report.blocks, report.streams,
                static_cast<double>(report.peak_live_bytes) / kMiB);
  std::string text = line;
  std::snprintf(line, sizeof line, "%-12s %10s %7s %10s %7s %9s %9s %8s %9s\n", "policy",
                "peak MiB", "/live", "least MiB", "/live", "moves", "calls", "events", "ns/event");
  text += line;
  for (const PolicyResult& result : report.results) {
    const Run& tight = result.least.run;
    std::snprintf(line, sizeof line, "%-12s %10.1f %7.4f %10.1f %7.4f %9llu %9llu %8llu %9.0f\n",
                  std::string(result.kind.name).c_str(),
                  static_cast<double>(result.unlimited.counts.peak_reserved_bytes) / kMiB,
                  over_live(report, result.unlimited.counts.peak_reserved_bytes),
                  static_cast<double>(result.least.bytes) / kMiB,
                  over_live(report, result.least.bytes),
                  static_cast<unsigned long long>(tight.counts.page_moves),
                  static_cast<unsigned long long>(tight.counts.driver_calls),
                  static_cast<unsigned long long>(tight.counts.events), result.cpu_ns_per_event);
    text += line;
  }
  return text +
         "peak: without a limit; least: the smallest capacity it runs on, and there the moves, "
         "calls, events and CPU time.\n";
}

std::string json_of(const Report& report) {
  trace::JsonText json;
  json.open('{');
  json.add("trace", report.source);
  json.add("events", std::uint64_t{report.events});
  json.add("blocks", std::uint64_t{report.blocks});
  json.add("streams", std::uint64_t{report.streams});
  json.add("peak_live_bytes", report.peak_live_bytes);
  json.open('[', "policies");
  for (const PolicyResult& result : report.results) {
    json.open('{');
    json.add("name", result.kind.name);
    json.add("text", result.kind.text);
    json.add("cpu_ns_per_event", result.cpu_ns_per_event);
    add_run(json, "unlimited", report, result.unlimited);
    json.add("least_capacity_bytes", result.least.bytes);
    json.add("least_capacity_over_peak_live", over_live(report, result.least.bytes));
    add_run(json, "at_least_capacity", report, result.least.run);
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return json.text() + "\n";
}
}  // namespace drey::cuda::replay
