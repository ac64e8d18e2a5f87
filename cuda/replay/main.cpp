// main.cpp: drey-cuda-replay: how much device memory a trace needs under drey's policy and others'.
// What the user can mend is one line on standard error and exit code 2.
// Read next: report.hpp, synthetic.hpp.
// SPDX-License-Identifier: MIT
#include "replay/one_run.hpp"
#include "replay/report.hpp"
#include "replay/synthetic.hpp"

#include <drey/cuda/trace/trace_files.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

namespace drey::cuda::replay {
namespace {
using trace::BadInput;

struct Options {
  std::string trace;
  std::vector<std::string> policies;
  std::uint64_t scale = trace::kMinimallocScale;
  std::string json;
  std::string binary;
  std::string rmm;
  bool only_convert = false;
  std::string driver = "simulated";
  std::uint64_t capacity_mib = 0;
  std::string snapshot;
  std::string snapshot_at = "peak";
};

std::string footer() {
  std::string text = "Synthetic traces:\n";
  for (const SyntheticKind& kind : synthetic_kinds())
    text += "  synthetic:" + std::string(kind.name) + ":SEED  " + std::string(kind.text) + "\n";
  text += "Policies:\n";
  for (const PolicyKind& kind : policies())
    text += "  " + std::string(kind.name) + "  " + std::string(kind.text) + "\n";
  return text;
}

// Nothing if it was a question that is answered.
std::optional<Options> parse(int count, char** arguments) {
  Options options;
  CLI::App app("How much device memory a recorded trace needs, policy by policy");
  app.add_option("TRACE", options.trace,
                 "drey's binary form, RMM's CSV, MiniMalloc's CSV, or synthetic:NAME:SEED")
      ->required();
  app.add_option("--policy", options.policies, "Only this one; again for more");
  app.add_option("--scale", options.scale, "Bytes a unit of MiniMalloc's sizes")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write all figures here");
  app.add_option("--write-binary", options.binary, "Write the trace here, in drey's binary form");
  app.add_option("--write-rmm", options.rmm, "Write the trace here, as RMM's CSV");
  app.add_flag("--only-convert", options.only_convert, "Write files, replay nothing");
  app.add_option("--driver", options.driver, "Run drey once: simulated, or real: the driver here")
      ->check(CLI::IsMember({"simulated", "real"}))
      ->capture_default_str();
  app.add_option("--capacity", options.capacity_mib, "Run drey once, on so many MiB")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1} << 27));
  app.add_option("--snapshot", options.snapshot,
                 "Run drey once and write its memory here, for PyTorch's memory viewer");
  app.add_option("--at", options.snapshot_at, "When: peak, oom, or after an event, from 0")
      ->capture_default_str();
  app.footer(footer());
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      app.exit(error);
      return std::nullopt;
    }
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw BadInput("command line: " + text);
  }
  return options;
}

std::vector<PolicyKind> chosen_policies(const Options& options) {
  std::vector<PolicyKind> chosen;
  std::string names;
  for (const PolicyKind& kind : policies()) {
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
    if (options.policies.empty()) chosen.push_back(kind);
  }
  for (const std::string& name : options.policies) {
    const auto kinds = policies();
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const PolicyKind& kind) { return kind.name == name; });
    if (found == kinds.end())
      throw BadInput("--policy: expected one of " + names + ", found '" + name + "'");
    chosen.push_back(*found);
  }
  return chosen;
}

void run(const Options& options) {
  const std::vector<PolicyKind> kinds = chosen_policies(options);
  constexpr std::string_view kSynthetic = "synthetic:";
  const bool is_synthetic = options.trace.starts_with(kSynthetic);
  const trace::DeviceTrace trace =
      is_synthetic ? make_synthetic(std::string_view(options.trace).substr(kSynthetic.size()))
                   : trace::read_trace(options.trace, options.scale);
  if (trace.events.empty()) throw BadInput(options.trace + ": expected events, found none");
  if (!options.binary.empty()) trace::write_file(options.binary, trace::binary_of(trace));
  if (!options.rmm.empty()) trace::write_file(options.rmm, trace::rmm_csv_of(trace));
  if (options.only_convert) return;
  if (options.driver == "real" || options.capacity_mib != 0 || !options.snapshot.empty()) {
    OneRunOptions one;
    one.on_real_driver = options.driver == "real";
    one.capacity = options.capacity_mib << 20;
    if (!options.snapshot.empty()) one.snapshot_at = options.snapshot_at;
    const OneRun once = run_once(trace, one);
    if (!options.snapshot.empty()) trace::write_file(options.snapshot, once.snapshot);
    if (!options.json.empty()) trace::write_file(options.json, json_of(options.trace, trace, once));
    std::fputs(line_of(options.trace, once).c_str(), stdout);
    return;
  }
  const Report report = replay_all(options.trace, trace, kinds);
  if (!options.json.empty()) trace::write_file(options.json, json_of(report));
  std::fputs(table_of(report).c_str(), stdout);
}
}  // namespace
}  // namespace drey::cuda::replay

int main(int count, char** arguments) {
  try {
    const auto options = drey::cuda::replay::parse(count, arguments);
    if (options) drey::cuda::replay::run(*options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-cuda-replay: %s\n", error.what());
    return 2;
  }
}
