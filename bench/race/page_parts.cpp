// page_parts.cpp: see page_parts.hpp.
// SPDX-License-Identifier: MIT
#include "race/page_parts.hpp"

#include "race/comparisons.hpp"
#include "race/format.hpp"
#include "race/report.hpp"
#include "race/svg_chart.hpp"

#include <array>

namespace drey::bench {
namespace {
/// Cases that belong together, by the start of their names; the first that fits decides.
struct Family {
  const char* prefix;
  const char* title;
};
constexpr std::array<Family, 8> kFamilies = {{{"pair", "A block taken and given back"},
                                              {"burst", "A thousand blocks, then all back"},
                                              {"large_burst", "A hundred thousand blocks"},
                                              {"mixed", "One of many replaced, sizes mixed"},
                                              {"large_pair", "Large blocks"},
                                              {"vector225", "Vectors of 225 floats, by source"},
                                              {"threads", "Several threads"},
                                              {"", "The C++ library and its kin"}}};

const char* family_of(const std::string& name) {
  for (const Family& family : kFamilies) {
    if (name.rfind(family.prefix, 0) == 0) return family.title;
  }
  return kFamilies.back().title;
}

std::string card(const std::string& title, const std::string& note, const std::vector<Bar>& bars) {
  std::string description = title;
  for (const Bar& bar : bars) description += "; " + bar.label + " " + bar.text;
  const std::string caption = note.empty() ? "" : "<figcaption>" + note + "</figcaption>";
  return "<figure class=\"card\"><h3>" + escape_html(title) + "</h3>" +
         bar_chart(description, bars) + caption + "</figure>";
}

/// A card of one figure of the trainers. `show` writes a value with its unit.
template <typename Field, typename Show>
std::string trainer_card(const RaceResults& results, const std::string& title,
                         const std::string& note, Field field, Show show) {
  std::vector<Bar> bars;
  for (const Racer* racer : results.trainer_racers()) {
    const Summary summary = summarise(results.trainer.at(racer->key).column(field));
    bars.push_back({racer->key, racer->key, summary, show(summary.median)});
  }
  return card(title, note, bars);
}

std::string heap_call_card(const RaceResults& results) {
  std::vector<Bar> bars;
  std::string in_step;
  for (const Racer* racer : results.trainer_racers()) {
    const auto& calls = results.trainer.at(racer->key).heap_calls;
    if (!calls) continue;
    const auto total = static_cast<double>(calls->total);
    bars.push_back({racer->key, racer->key, {total, total, total, 1}, grouped(calls->total)});
    if (!in_step.empty()) in_step += ", ";
    in_step += racer->key + " " + grouped(calls->in_steps_after_warmup);
  }
  if (bars.empty()) return "";
  return card("Heap calls of the whole run",
              "counted in a run of its own; in the step after warm-up: " + in_step, bars);
}

std::vector<RatioRow> ratio_rows(const RaceResults& results, const std::vector<Pairing>& pairs) {
  std::vector<RatioRow> rows;
  std::string last_family;
  for (const MicroCase& one : results.micro) {
    RatioRow row{one.name, {}, false};
    for (const Pairing& pair : pairs) {
      if (const auto comparison = compare_case(one, pair)) {
        row.points.push_back({pair.reference->key, *comparison});
      }
    }
    const std::string family = family_of(one.name);
    row.starts_group = family != last_family;
    last_family = family;
    rows.push_back(row);
  }
  return rows;
}

std::string ratio_overview(const RaceResults& results, const std::vector<Pairing>& pairs) {
  if (pairs.empty()) return "";
  std::string legend;
  std::vector<std::string> references;
  for (const Pairing& pair : pairs) {
    references.push_back(pair.reference->key);
    legend +=
        "<li><span class=\"chip " + pair.reference->key + "\"></span>" + pair.title() + "</li>";
  }
  const std::string subject = pairs.front().subject->key;
  return "<figure class=\"card\"><ul class=\"legend\" style=\"margin: 0 0 10px\">" + legend +
         "<li class=\"soft\">line: quartiles of the rounds; hollow: a tie; logarithmic scale, "
         "beyond 1/64 or 64 at the edge</li>"
         "</ul>" +
         ratio_chart({"Ratio of times, " + subject + " over each reference", subject, references,
                      ratio_rows(results, pairs)}) +
         "</figure>";
}

std::string case_card(const RaceResults& results, const MicroCase& one) {
  std::vector<Bar> bars;
  for (const Racer* racer : results.micro_racers()) {
    const Summary summary = summarise(samples_of(one, *racer));
    bars.push_back({racer->key, racer->key, summary, duration(summary.median)});
  }
  return card(one.name, "", bars);
}

std::string case_cards(const RaceResults& results) {
  std::string html;
  std::string last_family;
  for (const MicroCase& one : results.micro) {
    const std::string family = family_of(one.name);
    if (family != last_family) {
      if (!last_family.empty()) html += "</div>";
      html += "<h4>" + family + "</h4><div class=\"grid\">";
      last_family = family;
    }
    html += case_card(results, one);
  }
  return html.empty() ? "" : html + "</div>";
}

std::string case_table(const RaceResults& results, const std::vector<Pairing>& pairs) {
  std::string html =
      "<details><summary>All numbers: medians, quartiles in brackets</summary>"
      "<div class=\"scroll\"><table><thead><tr><th>case</th>";
  for (const Racer* racer : results.micro_racers()) html += "<th>" + racer->key + ", ns</th>";
  for (const Pairing& pair : pairs) html += "<th>" + pair.title() + "</th>";
  html += "</tr></thead><tbody>";
  for (const MicroCase& one : results.micro) {
    html += "<tr><td>" + escape_html(one.name) + "</td>";
    for (const Racer* racer : results.micro_racers()) {
      const Summary summary = summarise(samples_of(one, *racer));
      html += "<td>" + significant(summary.median) + " (" + significant(summary.lower_quartile) +
              "-" + significant(summary.upper_quartile) + ")</td>";
    }
    for (const Pairing& pair : pairs) {
      const auto comparison = compare_case(one, pair);
      html += "<td>" + (comparison ? ratio_text(*comparison) : std::string()) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div></details>";
}
}  // namespace

std::string trainer_section(const RaceResults& results) {
  if (results.trainer_racers().empty()) return "";
  const auto seconds = [](double value) { return significant(value) + " s"; };
  const auto steps = [](double value) { return grouped(static_cast<std::uint64_t>(value)); };
  const auto memory = [](double value) { return fixed(mebibytes(value), 1) + " MiB"; };
  return "<h2>Training</h2><p>The same DQN on the same bars (" +
         escape_html(data_name(results.options)) + ", seed " +
         std::to_string(results.options.seed) +
         "), linked with each allocator. After training the weights are equal bit by bit: hash "
         "<code>" +
         escape_html(results.common_weights_hash()) + "</code>.</p><div class=\"grid\">" +
         trainer_card(results, "CPU time of the process", "less is better",
                      &TrainerRun::cpu_seconds, seconds) +
         trainer_card(results, "Gradient steps a second", "more is better",
                      &TrainerRun::steps_per_second, steps) +
         trainer_card(results, "Peak resident memory", "less is better",
                      &TrainerRun::peak_rss_bytes, memory) +
         heap_call_card(results) + "</div>";
}

std::string micro_section(const RaceResults& results) {
  if (results.micro_racers().empty()) return "";
  const auto pairs = pairings(results.micro_racers());
  return "<h2>Micro cases</h2><p>Time of one malloc with its free, in programs that do little "
         "else: real programs spend a few percent of their time here.</p>" +
         ratio_overview(results, pairs) + case_cards(results) + case_table(results, pairs);
}
}  // namespace drey::bench
