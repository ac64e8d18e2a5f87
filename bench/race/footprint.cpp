// footprint.cpp: runs the probe under each allocator's shared library, interleaved by rounds.
// Read next: footprint.hpp.
// SPDX-License-Identifier: MIT
#include "race/footprint.hpp"

#include "drey_library.hpp"
#include "race/child.hpp"
#include "race/claim.hpp"
#include "race/error.hpp"
#include "race/format.hpp"
#include "race/report.hpp"
#include "race/text_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <unistd.h>

namespace drey::bench {
namespace {
struct Candidate {
  std::string name;
  std::string preload;
};

std::vector<Candidate> candidates(const std::filesystem::path& bin_dir) {
  return {{"glibc", ""},
          {"drey", drey_library(bin_dir).string()},
          {"mimalloc", "libmimalloc.so.2"},
          {"jemalloc", "libjemalloc.so.2"},
          {"tcmalloc", "libtcmalloc_minimal.so.4"}};
}

nlohmann::json run_probe(const std::filesystem::path& probe, const std::string& preload) {
  ChildCommand command;
  command.arguments = {probe.string()};
  command.environment = {{"LD_PRELOAD", preload}};
  command.bind_to_one_core = true;
  const ChildResult result = run_child(command);
  auto report = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!result.succeeded() || !report.is_object()) {
    throw RaceFailed("footprint probe with LD_PRELOAD='" + preload +
                     "' failed: " + result.last_words());
  }
  return report;
}

/// Adds one sample. Returns false if the loader did not find the library.
bool add_sample(FootprintRow& row, const Candidate& candidate, const nlohmann::json& report) {
  row.answer = parse_answer("footprint probe", report.at("allocator"));
  if (row.answer.name == "glibc" && candidate.name != "glibc") return false;
  if (const auto lie = find_lie(candidate.name, row.answer)) {
    throw RaceFailed("LD_PRELOAD='" + candidate.preload + "' " + *lie);
  }
  row.payload_bytes = report.at("payload_bytes").get<double>();
  row.rest_bytes.push_back(report.at("rest_bytes").get<double>());
  row.filled_bytes.push_back(report.at("filled_bytes").get<double>());
  row.kept_bytes.push_back(report.at("kept_bytes").get<double>());
  return true;
}

std::string mebibytes_text(double bytes) {
  return fixed(mebibytes(bytes), 2);
}
}  // namespace

Footprint measure_footprint(const FootprintOptions& options) {
  const auto probe = options.bin_dir / "drey-footprint-probe";
  if (access(probe.c_str(), X_OK) != 0) {
    throw BadInput("expected the program " + probe.string() + ", found none");
  }
  Footprint footprint;
  std::vector<Candidate> present;
  for (const Candidate& candidate : candidates(options.bin_dir)) {
    FootprintRow row;
    row.preload = candidate.preload;
    if (add_sample(row, candidate, run_probe(probe, candidate.preload))) {
      present.push_back(candidate);
      footprint.rows.push_back(row);
    } else {
      footprint.absent.push_back({candidate.name, candidate.preload + " was not found"});
    }
  }
  for (int round = 1; round < options.rounds; ++round) {
    for (std::size_t place = 0; place < present.size(); ++place) {
      const auto report = run_probe(probe, present[place].preload);
      static_cast<void>(add_sample(footprint.rows[place], present[place], report));
    }
  }
  return footprint;
}

std::string footprint_text(const Footprint& footprint, const Machine& machine) {
  TextTable table({"allocator", "at rest MiB", "over glibc MiB", "64 MiB of 900 B: overhead",
                   "kept after free MiB"});
  const double glibc_bytes = summarise(footprint.rows.front().rest_bytes).median;
  for (const FootprintRow& row : footprint.rows) {
    const double rest_bytes = summarise(row.rest_bytes).median;
    const double overhead = summarise(row.filled_bytes).median / row.payload_bytes - 1.0;
    table.add_row({row.answer.name + " " + row.answer.version, mebibytes_text(rest_bytes),
                   mebibytes_text(rest_bytes - glibc_bytes), fixed(100.0 * overhead, 1) + " %",
                   mebibytes_text(summarise(row.kept_bytes).median)});
  }
  std::string text = machine.cpu + "; " + machine.kernel +
                     "; huge pages: " + machine.transparent_huge_pages + "; " + machine.date +
                     "\n\n" + table.text();
  for (const Refusal& one : footprint.absent) {
    text += "not measured: " + one.program + ": " + one.reason + "\n";
  }
  return text;
}

std::string footprint_json(const Footprint& footprint, const Machine& machine) {
  nlohmann::ordered_json json = {{"format", 1},
                                 {"kind", "footprint"},
                                 {"date", machine.date},
                                 {"command", machine.command},
                                 {"machine", machine_json(machine)}};
  for (const FootprintRow& row : footprint.rows) {
    json["allocators"].push_back({{"name", row.answer.name},
                                  {"version", row.answer.version},
                                  {"how", row.answer.how},
                                  {"payload_bytes", row.payload_bytes},
                                  {"rest_bytes", row.rest_bytes},
                                  {"filled_bytes", row.filled_bytes},
                                  {"kept_bytes", row.kept_bytes}});
  }
  return json.dump(2) + "\n";
}
}  // namespace drey::bench
