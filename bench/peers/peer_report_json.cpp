// peer_report_json.cpp: every sample, minimum, median and verdict.
// Read next: peer_report.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_report.hpp"
#include "peers/verdict.hpp"
#include "race/report.hpp"

#include <nlohmann/json.hpp>

namespace drey::bench {
namespace {
using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

Json row_json(const HeadToHead& results, const Row& row) {
  Json json = {{"group", row.group}, {"name", row.name}, {"unit", row.unit}};
  for (const Contender& contender : results.contenders) {
    const auto found = row.samples.find(contender.name);
    if (found == row.samples.end()) continue;
    json["samples"][contender.name] = found->second;
    json["minimum"][contender.name] = *least(row, contender.name);
    json["median"][contender.name] = *median(row, contender.name);
  }
  const std::string best = best_peer(row);
  if (const auto ratio = ratio_of(row, kSubject, best)) {
    json["best_other"] = best;
    json["ratio_to_best"] = {{"minimum", *ratio},
                             {"median", *ratio_of(row, kSubject, best, median)}};
  }
  if (const auto ratio = ratio_of(row, kSubject, results.reference)) {
    json["ratio_to_reference"] = {{"minimum", *ratio},
                                  {"median", *ratio_of(row, kSubject, results.reference, median)}};
  }
  if (const auto verdict = judge(row)) {
    json["verdict"] = {{"limit", row.target.limit},
                       {"figure", verdict->figure},
                       {"met", verdict->is_met},
                       {"within_spread", verdict->is_within_spread}};
  }
  return json;
}

Json contenders_json(const HeadToHead& results) {
  Json json = Json::array();
  for (const Contender& contender : results.contenders) {
    json.push_back(
        {{"key", contender.name},
         {"library", contender.library.filename().string()},
         {"name", contender.answer.name},
         {"version", contender.version.empty() ? contender.answer.version : contender.version}});
  }
  return json;
}
}  // namespace

std::string head_to_head_json(const HeadToHead& results) {
  Json json = {{"format", kFormat},
               {"kind", results.kind},
               {"date", results.machine.date},
               {"command", shortened_command(results.machine.command)},
               {"machine", machine_json(results.machine)},
               {"rounds", results.rounds},
               {"reference", results.reference},
               {"settings", Json::object()},
               {"allocators", contenders_json(results)},
               {"goals", Json::array()},
               {"geometric_means", Json::object()},
               {"failures", Json::array()},
               {"rows", Json::array()}};
  for (const auto& [name, value] : results.settings) json["settings"][name] = value;
  for (const Goal& goal : results.goals) {
    json["goals"].push_back(
        {{"target", goal.sentence}, {"figure", goal.figure}, {"met", goal.is_met}});
  }
  for (const Mean& mean : results.means) json["geometric_means"][mean.title] = mean.ratios;
  for (const Refusal& failure : results.failures) {
    json["failures"].push_back({{"what", failure.program}, {"reason", failure.reason}});
  }
  for (const Row& row : results.rows) json["rows"].push_back(row_json(results, row));
  return json.dump(1) + "\n";
}
}  // namespace drey::bench
