// report_html.cpp: the page: what was raced, the figures that matter, the trainer, every micro
// case, the method. Well-formed as XML too, which the tests check.
// Read next: report.hpp, svg_chart.hpp, page_parts.cpp.
// SPDX-License-Identifier: MIT
#include "race/comparisons.hpp"
#include "race/format.hpp"
#include "race/page_parts.hpp"
#include "race/page_style.hpp"
#include "race/report.hpp"
#include "race/svg_chart.hpp"

namespace drey::bench {
namespace {
std::string header(const RaceResults& results) {
  std::string names;
  std::string legend;
  for (const Racer& racer : results.racers) {
    if (!names.empty()) names += &racer == &results.racers.back() ? " and " : ", ";
    names += racer.key == "system" ? "system malloc" : racer.key;
    const std::string how = racer.answer ? racer.answer->how : "no run";
    legend += "<li><span class=\"chip " + racer.key + "\"></span>" + escape_html(racer.title()) +
              " <span class=\"soft\">" + escape_html(how) + "</span></li>";
  }
  const Machine& machine = results.machine;
  return "<header><h1>" + escape_html(names) + ", head to head</h1><p class=\"soft\">" +
         escape_html(machine.cpu) + ", " + plural(machine.cores, "core") + " \xC2\xB7 " +
         escape_html(machine.distribution) + " \xC2\xB7 " + escape_html(machine.date) +
         " \xC2\xB7 medians of " + plural(results.options.rounds, "interleaved round") +
         ", one program per allocator</p><ul class=\"legend\">" + legend + "</ul></header>";
}

std::string refusals(const RaceResults& results) {
  std::string html;
  for (const Refusal& refusal : results.refusals) {
    html += "<p class=\"refused\"><strong>Refused: <code>" + escape_html(refusal.program) +
            "</code></strong> " + escape_html(refusal.reason) + ". Its numbers are not shown.</p>";
  }
  return html;
}

/// One big number. Ties are called ties, never wins.
std::string figure(const std::string& number, const std::string& caption) {
  return "<div class=\"card\"><strong>" + escape_html(number) + "</strong><p class=\"soft\">" +
         escape_html(caption) + "</p></div>";
}

std::string trainer_figure(const RaceResults& results, const Pairing& pair) {
  const Comparison comparison = compare_trainers(results, pair);
  const std::string caption = "CPU time of training, " + pair.subject->key + " over " +
                              pair.reference->key + " (quartiles " +
                              ratio_number(comparison.ratio.lower_quartile) + " to " +
                              ratio_number(comparison.ratio.upper_quartile) + ")";
  return figure((comparison.is_tie ? "tie, " : "") + ratio_number(comparison.ratio.median),
                caption);
}

std::string figures(const RaceResults& results) {
  std::string html;
  for (const Pairing& pair : pairings(results.trainer_racers())) {
    html += trainer_figure(results, pair);
  }
  for (const Pairing& pair : pairings(results.micro_racers())) {
    html += figure(ratio_number(mean_ratio(results, pair)),
                   "time of a malloc with its free, " + pair.subject->key + " over " +
                       pair.reference->key + ": geometric mean of " +
                       std::to_string(results.micro.size()) + " cases");
  }
  return "<section class=\"figures\">" + html + "</section>";
}

std::string fact(const std::string& name, const std::string& value) {
  return "<dt>" + name + "</dt><dd>" + escape_html(value) + "</dd>";
}

std::string method(const RaceResults& results) {
  const Machine& machine = results.machine;
  return "<h2>Method</h2><p>Racers run one after the other within a round, and the order rotates "
         "from round to round, so that a slow minute meets them all. Ratios are taken within a "
         "round; their median and quartiles are shown. A difference that is not larger than the "
         "spread is a tie. Work of one thread is bound to one core; times are CPU time, but for "
         "cases of several threads, which are real time. Before its numbers count, each program "
         "says whose malloc it really has.</p><dl>" +
         fact("Processor", machine.cpu + ", " + plural(machine.cores, "core")) +
         fact("Memory", fixed(machine.memory_gib, 1) + " GiB") +
         fact("System", machine.distribution + ", " + machine.kernel) +
         fact("Huge pages", machine.transparent_huge_pages) + fact("Compiler", machine.compiler) +
         fact("Load before", machine.load) + fact("Date", machine.date) +
         "<dt>Command</dt><dd><code>" + escape_html(machine.command) + "</code></dd></dl>";
}
}  // namespace

std::string report_html(const RaceResults& results) {
  return std::string("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>") +
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>" +
         "<title>drey-bench race, " + escape_html(results.machine.date) + "</title><style>" +
         kPageStyle + "</style></head><body><main>" + header(results) + refusals(results) +
         figures(results) + trainer_section(results) + micro_section(results) + method(results) +
         "</main></body></html>\n";
}
}  // namespace drey::bench
