// page_test.cpp: the page is well-formed, stands alone, and shows what was measured.
// SPDX-License-Identifier: MIT
#include "race/report.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace drey::bench {
namespace {
RaceResults small_race() {
  RaceResults results;
  results.machine.cpu = "A <fast> & \"quoted\" processor";
  results.options.rounds = 3;
  results.options.epochs = 1;
  results.options.data = "/somewhere/bars.csv";
  for (const char* key : {"drey", "system", "mimalloc"}) {
    Racer racer;
    racer.key = key;
    racer.answer = AllocatorAnswer{racer.key == "system" ? "glibc" : racer.key, "1.0", "somehow"};
    results.racers.push_back(racer);
    TrainerEntry& entry = results.trainer[key];
    for (int round = 1; round <= 3; ++round) {
      entry.runs.push_back({round, 1.0 + 0.1 * round, 1.0, 0.9, 2500, 1000, 1 << 20, "c0ffee"});
    }
    entry.heap_calls = HeapCalls{77'777, 0};
  }
  results.micro = {
      {"pair/64", {{"drey", {4, 4, 5}}, {"system", {8, 9, 8}}, {"mimalloc", {4, 4, 5}}}},
      {"threads_exchange", {{"drey", {90, 80, 70}}, {"system", {99, 98, 97}}}}};
  return results;
}

/// The first tag that does not close what is open, or that is left open; empty if all is well.
std::string first_unbalanced_tag(const std::string& page) {
  const std::regex tag("<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
    const std::smatch& found = *at;
    if (found[3].length() > 0) continue;
    if (found[1].length() == 0) {
      open.push_back(found[2]);
    } else if (open.empty() || open.back() != found[2]) {
      return found.str();
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

TEST(Page, IsWellFormed) {
  EXPECT_EQ(first_unbalanced_tag(report_html(small_race())), "");
  EXPECT_EQ(first_unbalanced_tag("<p><b></p>"), "</p>")
      << "the checker itself must be able to fail";
}

TEST(Page, StandsAlone) {
  const std::string page = report_html(small_race());
  for (const char* outside :
       {"http:", "https:", "//cdn", "src=", "href=", "@import", "url(", "<script"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(Page, HoldsAPlotOfEveryCaseAndFigure) {
  const std::string page = report_html(small_race());
  std::size_t plots = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos;
       at = page.find("<svg", at + 1)) {
    ++plots;
  }
  EXPECT_EQ(plots, 4u + 1u + 2u) << "four figures of training, the overview, two cases";
  for (const char* expected : {"pair/64", "threads_exchange", "c0ffee", "77,777",
                               "class=\"whisker\"", "prefers-color-scheme: dark"}) {
    EXPECT_NE(page.find(expected), std::string::npos) << expected;
  }
}

TEST(Page, EscapesWhatItIsTold) {
  const std::string page = report_html(small_race());
  EXPECT_EQ(page.find("<fast>"), std::string::npos);
  EXPECT_NE(page.find("A &lt;fast&gt; &amp; &quot;quoted&quot; processor"), std::string::npos);
}

TEST(Page, ShowsRefusals) {
  RaceResults results = small_race();
  results.refusals.push_back({"drey-train-mimalloc", "claims mimalloc, but its malloc is glibc"});
  EXPECT_NE(report_html(results).find("Refused: <code>drey-train-mimalloc"), std::string::npos);
}

TEST(Page, IsWellFormedWithoutAnyNumbers) {
  EXPECT_EQ(first_unbalanced_tag(report_html({})), "");
}
}  // namespace
}  // namespace drey::bench
