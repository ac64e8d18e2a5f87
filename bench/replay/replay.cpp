// replay.cpp: writes the plan into a file in memory, runs drey-replay on it, collects.
// Read next: replay.hpp.
// SPDX-License-Identifier: MIT
#include "replay/replay.hpp"

#include "race/child.hpp"
#include "race/error.hpp"
#include "race/output_file.hpp"
#include "race/race.hpp"
#include "race/statistics.hpp"
#include "replay/replay_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include <sys/mman.h>
#include <unistd.h>

namespace drey::bench {
namespace {
/// The plan where a child can open it; gone with its owner.
class PlanFile {
 public:
  explicit PlanFile(const Plan& plan) : descriptor_(memfd_create("plan", 0)) {
    if (descriptor_ < 0) throw RaceFailed(std::string("memfd_create: ") + std::strerror(errno));
    const std::string bytes = plan.bytes();
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) throw RaceFailed(std::string("the plan: ") + std::strerror(errno));
      done += static_cast<std::size_t>(count);
    }
  }
  ~PlanFile() { close(descriptor_); }
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;

  /// Valid in a child, which inherits the descriptor.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

class Replayer {
 public:
  Replayer(const ReplayOptions& options, const Plan& plan)
      : program_(options.bin_dir / "drey-replay"),
        plan_file_(plan),
        has_one_thread_(plan.header.thread_count <= 1) {
    if (access(program_.c_str(), X_OK) != 0) {
      throw BadInput("expected the program " + program_.string() + ", found none");
    }
  }

  [[nodiscard]] nlohmann::json run(const ReplayAllocator& allocator, const char* mode) const {
    ChildCommand command;
    command.arguments = {program_.string(), plan_file_.path(), mode};
    command.environment = {{"LD_PRELOAD", allocator.library}, {"DREY_TRACE", ""}};
    command.bind_to_one_core = has_one_thread_;
    const ChildResult result = run_child(command);
    auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
    if (!result.succeeded() || !report.is_object()) {
      throw RaceFailed("replay against " + allocator.name + " failed (exit code " +
                       std::to_string(result.exit_code) + "): " + result.last_words());
    }
    return report;
  }

 private:
  std::filesystem::path program_;
  PlanFile plan_file_;
  bool has_one_thread_;
};

/// True if the malloc a replay found is the one it was to find.
bool is_right(const ReplayAllocator& allocator, const std::string& loaded) {
  const std::filesystem::path file = loaded;
  if (allocator.library.empty()) return file.filename().string().rfind("libc.", 0) == 0;
  return file.filename() == std::filesystem::path(allocator.library).filename();
}

double cpu_ns_of(const nlohmann::json& report) {
  return report.at("cpu_ns").get<double>() - report.at("wait_ns").get<double>();
}

std::vector<CurvePoint> curve_of(const nlohmann::json& report) {
  std::vector<CurvePoint> curve;
  for (const auto& sample : report.at("samples")) {
    curve.push_back({sample.at(0).get<std::uint64_t>(), sample.at(1).get<std::uint64_t>(),
                     sample.at(2).get<double>(), std::max(0.0, sample.at(3).get<double>())});
  }
  std::sort(curve.begin(), curve.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.events < b.events; });
  return curve;
}

/// The replay with samples, which also shows whether the allocator is there.
/// Returns: nothing if an optional one is not.
std::optional<ReplayRow> first_replay(const Replayer& replayer, const ReplayAllocator& allocator,
                                      std::vector<Refusal>& absent) {
  const auto report = replayer.run(allocator, "sampled");
  ReplayRow row;
  row.allocator = allocator;
  row.loaded = report.at("malloc").get<std::string>();
  row.curve = curve_of(report);
  if (is_right(allocator, row.loaded)) return row;
  const std::string reason = "expected malloc in " +
                             (allocator.library.empty() ? "the C library" : allocator.library) +
                             ", found it in " + row.loaded;
  if (!allocator.is_optional) throw BadInput("--allocator " + allocator.name + ": " + reason);
  absent.push_back({allocator.name, reason});
  return std::nullopt;
}

void time_rows(const Replayer& replayer, ReplayResults& results) {
  const ReplayAllocator nobody{"empty", "", false};
  for (int round = 0; round < results.options.rounds; ++round) {
    show_progress("replay: round " + std::to_string(round + 1));
    results.empty_cpu_ns.push_back(cpu_ns_of(replayer.run(nobody, "empty")));
    for (const std::size_t place : order_of_round(results.rows.size(), round)) {
      ReplayRow& row = results.rows[place];
      const auto report = replayer.run(row.allocator, "timed");
      row.cpu_ns.push_back(cpu_ns_of(report));
      row.wall_ns.push_back(report.at("wall_ns").get<double>());
    }
  }
  show_progress("");
  const double empty_ns = summarise(results.empty_cpu_ns).median;
  const auto events = static_cast<double>(std::max<std::uint64_t>(1, results.facts.events));
  for (ReplayRow& row : results.rows) {
    for (const double cpu_ns : row.cpu_ns) row.event_ns.push_back((cpu_ns - empty_ns) / events);
  }
}
}  // namespace

double ReplayRow::resident_bytes_max() const {
  double largest = 0;
  for (const CurvePoint& point : curve) largest = std::max(largest, point.resident_bytes);
  return largest;
}

double ReplayRow::resident_bytes_at_end() const {
  return curve.empty() ? 0 : curve.back().resident_bytes;
}

ReplayResults replay_trace(const ReplayOptions& options, Machine machine) {
  ReplayResults results;
  results.options = options;
  results.machine = std::move(machine);
  const std::vector<ReplayAllocator> allocators = find_allocators(options);
  Trace trace = read_trace(options.trace);
  results.program = trace.program;
  results.process = trace.process;
  results.lost_count = trace.lost_count;
  results.ended_in_order = trace.ended_in_order;
  const Plan plan = make_plan(trace, options.sequential);
  trace.threads.clear();
  results.header = plan.header;
  results.facts = plan.facts;
  if (plan.facts.events == 0) {
    throw BadInput(options.trace.string() + ": expected events, found none");
  }
  const Replayer replayer(options, plan);
  for (const ReplayAllocator& allocator : allocators) {
    auto row = first_replay(replayer, allocator, results.absent);
    if (row) results.rows.push_back(std::move(*row));
  }
  time_rows(replayer, results);
  return results;
}

int run_replay(const ReplayOptions& options, Machine machine) {
  const auto open_output = [](const char* option, const auto& path) {
    return path ? std::make_unique<OutputFile>(option, *path) : nullptr;
  };
  const auto json = open_output("--json", options.json);
  const auto curve = open_output("--curve", options.curve);
  const auto html = open_output("--html", options.html);
  const ReplayResults results = replay_trace(options, std::move(machine));
  std::fputs(replay_text(results).c_str(), stdout);
  if (json != nullptr) json->commit(replay_json(results));
  if (curve != nullptr) curve->commit(replay_curve(results));
  if (html != nullptr) html->commit(replay_html(results));
  return 0;
}
}  // namespace drey::bench
