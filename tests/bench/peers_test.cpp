// peers_test.cpp: drey-bench peers over scripts whose figures we know: order, rows, ratios, verdicts,
// means, refusals; and drey-peer-cases itself under real libraries. No timing is judged.
// SPDX-License-Identifier: MIT
#include "bench/fake_peers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace drey::bench {
namespace {
class Peers : public testing::Test {
 protected:
  [[nodiscard]] ChildResult race(const std::vector<std::string>& more = {}) const {
    return fake_.run("peers", more);
  }
  /// The JSON of a run that went well.
  [[nodiscard]] nlohmann::json results(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", fake_.path("out.json")});
    const ChildResult result = race(more);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error << result.standard_output;
    return nlohmann::json::parse(read_file(fake_.path("out.json")));
  }
  static nlohmann::json row_named(const nlohmann::json& json, const std::string& name,
                                  const std::string& unit) {
    for (const auto& row : json["rows"]) {
      if (row["name"] == name && row["unit"] == unit) return row;
    }
    ADD_FAILURE() << "no row " << name;
    return {};
  }

  FakePeers fake_;
};

TEST_F(Peers, RunInRotatedOrderCaseByCase) {
  ASSERT_EQ(race({"--group", "pair,mixed"}).exit_code, 0);
  std::istringstream log(read_file(fake_.path("calls.log")));
  std::string order;
  for (std::string line; std::getline(log, line);) order += line + "\n";
  EXPECT_EQ(order,
            "pair/64 drey.so\npair/64 libc.so.6\npair/64 fast.so\npair/64 slow.so\n"
            "pair/64 libc.so.6\npair/64 fast.so\npair/64 slow.so\npair/64 drey.so\n"
            "mixed/1 drey.so\nmixed/1 libc.so.6\nmixed/1 fast.so\nmixed/1 slow.so\n"
            "mixed/1 libc.so.6\nmixed/1 fast.so\nmixed/1 slow.so\nmixed/1 drey.so\n");
}

TEST_F(Peers, RatiosAreToTheBestOtherAndToTheReference) {
  const auto row = row_named(results({"--group", "pair"}), "pair/64", "ns");
  EXPECT_EQ(row["samples"]["drey"].size(), 2u);
  EXPECT_EQ(row["best_other"], "fast");
  EXPECT_DOUBLE_EQ(row["ratio_to_best"]["minimum"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(row["ratio_to_reference"]["median"].get<double>(), 0.5);
  EXPECT_FALSE(row["verdict"]["met"].get<bool>());
}

TEST_F(Peers, AFasterDreyMeetsItsTargets) {
  std::filesystem::remove(fake_.path("fast.so"));
  std::filesystem::copy(fake_.path("slow.so"), fake_.path("fast.so"));
  std::string script = kFakeCases;
  script.replace(script.find("ns=2"), 4, "ns=4");
  fake_.folder().write_script("drey-peer-cases", script);
  const auto json = results({"--group", "pair,mixed"});
  EXPECT_TRUE(row_named(json, "pair/64", "ns")["verdict"]["met"].get<bool>());
  EXPECT_TRUE(row_named(json, "mixed/1", "ns")["verdict"]["met"].get<bool>());
  for (const auto& goal : json["goals"]) {
    const bool is_mean_of_pairs = goal["target"] == "pair: geometric mean at most 0.42 x slow";
    EXPECT_EQ(goal["met"].get<bool>(), !is_mean_of_pairs) << goal;  // 3 ns of 6
  }
}

TEST_F(Peers, MixedSizesHaveToBeATenthFaster) {
  std::string script = kFakeCases;
  script.replace(script.find("ns=2"), 4, "ns=3");
  fake_.folder().write_script("drey-peer-cases", script);
  const auto json = results({"--group", "pair,mixed"});
  EXPECT_TRUE(row_named(json, "pair/64", "ns")["verdict"]["met"].get<bool>());
  EXPECT_FALSE(row_named(json, "mixed/1", "ns")["verdict"]["met"].get<bool>());
}

TEST_F(Peers, MeansAreOfShownTimesRelativeToTheReference) {
  const auto means = results()["geometric_means"]["all timed cases"];
  EXPECT_DOUBLE_EQ(means["drey"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(means["slow"].get<double>(), 1.0);
  EXPECT_NEAR(means["system"].get<double>(), 8.0 / 6.0, 1e-12);
}

TEST_F(Peers, RestIsHeldAgainstTheSystemsAndScaleMustBeFlat) {
  const ChildResult result = race();
  EXPECT_TRUE(contains(result.standard_output, "missed 1.00")) << result.standard_output;
  EXPECT_TRUE(contains(result.standard_output,
                       "missed  scale/threads/*: a pair within 20 % of their median: 29 %"))
      << result.standard_output;
}

TEST_F(Peers, BigCasesRunOnlyWhenAskedFor) {
  EXPECT_FALSE(contains(race({"--group", "mixed"}).standard_output, "mixed/huge"));
  EXPECT_TRUE(contains(race({"--group", "mixed", "--big"}).standard_output, "mixed/huge"));
}

TEST_F(Peers, MarkdownHasTheTablesAndNoPaths) {
  ASSERT_EQ(race({"--group", "pair", "--markdown", fake_.path("out.md")}).exit_code, 0);
  const std::string text = read_file(fake_.path("out.md"));
  EXPECT_TRUE(contains(text, "| pair/64 | 3.00 ns | 8.00 ns | 2.00 ns | 6.00 ns | fast | 1.50 |"))
      << text;
  EXPECT_TRUE(contains(text, "- slow: slow 1.2\n")) << text;
  EXPECT_TRUE(contains(text, "--peer fast=fast.so")) << text;
  EXPECT_FALSE(contains(text, fake_.folder().path().string())) << text;
}

TEST_F(Peers, ACaseThatAContenderDoesNotSurviveIsNamedAndTheRestShown) {
  std::string script = kFakeCases;
  script += "case \"$2 $library\" in pair*fast.so) kill -SEGV $$ ;; esac\n";
  fake_.folder().write_script("drey-peer-cases", script);
  const ChildResult result = race({"--group", "pair"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.standard_output, "FAILED fast, pair/64: exit code 139"))
      << result.standard_output;
  EXPECT_TRUE(contains(result.standard_output, "0.50")) << result.standard_output;
}

TEST_F(Peers, ALibraryThatIsNotPreloadedIsRefused) {
  std::string script = kFakeCases;
  script.insert(0, "case \"$LD_PRELOAD\" in *fast.so) LD_PRELOAD= ;; esac\n");
  fake_.folder().write_script("drey-peer-cases", script);
  const ChildResult result = race();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  EXPECT_TRUE(contains(result.standard_error, "fast: expected malloc in")) << result.standard_error;
}

TEST_F(Peers, BadOptionsAreOneLineAndExitCodeTwo) {
  const std::vector<std::vector<std::string>> bad = {{"--peer", "nothing"},
                                                     {"--peer", "x=/no/such/library.so"},
                                                     {"--peer", "fast=" + fake_.path("slow.so")},
                                                     {"--reference", "nobody"},
                                                     {"--group", "no-such-group"},
                                                     {"--filter", "matches no case"},
                                                     {"--filter", "("},
                                                     {"--rounds", "0"}};
  for (const auto& options : bad) {
    const ChildResult result =
        options[0] == "--reference" || options[0] == "--rounds"
            ? run_command({DREY_TEST_BENCH, "peers", "--bin-dir", fake_.folder().path().string(),
                           options[0], options[1]},
                          {{"DREY_LIBRARY", fake_.path("drey.so")}})
            : race(options);
    EXPECT_EQ(result.exit_code, 2) << options[0] << " " << options[1];
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  }
}

std::string cases_program() {
  return std::string(DREY_TEST_BIN_FOLDER) + "/drey-peer-cases";
}

TEST(PeerCases, AllHaveNamesOfTheirOwnThatBeginWithTheirGroup) {
  std::istringstream lines(run_command({cases_program(), "list"}).standard_output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    const std::string name = json["name"];
    EXPECT_EQ(name.rfind(json["group"].get<std::string>() + "/", 0), 0u) << name;
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
    names.push_back(name);
  }
  EXPECT_GT(names.size(), 100u);
}

TEST(PeerCases, SayWhichLibraryMallocIsIn) {
  const std::string library = DREY_TEST_LIBRARY_FOLDER "/libjemalloc.so.2";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not installed";
  const ChildResult result =
      run_command({cases_program(), "run", "pair/64", "0.001"}, {{"LD_PRELOAD", library}});
  const auto json = nlohmann::json::parse(result.standard_output);
  EXPECT_EQ(json["library"], library);
  EXPECT_GT(json["figures"]["cpu_ns"].get<double>(), 0.0);
}

TEST(PeerCases, EveryQuickCaseEndsAndReportsATime) {
  for (const char* name :
       {"pair/24", "large/touched/131072", "burst/1000/random/900", "mixed/small/1000/2_threads",
        "threads/producer_consumer/64", "threads/exchange", "threads/born_100_blocks_ended",
        "cache/scratch", "cache/thrash", "library/sized_delete/64", "library/calloc/900",
        "library/vector_of_225_floats", "library/map_churn", "library/realloc_16_bytes_a_step",
        "scale/live/1000", "scale/threads/4"}) {
    const ChildResult result = run_command({cases_program(), "run", name, "0.001"});
    ASSERT_EQ(result.exit_code, 0) << name << ": " << result.standard_error;
    const auto json = nlohmann::json::parse(result.standard_output);
    EXPECT_EQ(json["case"], name);
    EXPECT_GT(json["figures"]["cpu_ns"].get<double>(), 0.0) << name;
  }
}

TEST(PeerCases, RaceEndToEndWithTheRealLibrary) {
  const std::string library = DREY_TEST_DREY_LIBRARY;
  if (!std::filesystem::exists(library)) GTEST_SKIP() << "libdrey.so is not built";
  const ChildResult result =
      run_command({DREY_TEST_BENCH, "peers", "--rounds", "1", "--case-seconds", "0.001", "--filter",
                   "^pair/64$|^memory/rest$", "--peer", "again=" + library},
                  {{"DREY_LIBRARY", library}});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error << result.standard_output;
  EXPECT_TRUE(contains(result.standard_output, "drey: drey ")) << result.standard_output;
  EXPECT_TRUE(contains(result.standard_output, "memory/rest, MiB")) << result.standard_output;
}

TEST(PeerCases, AnUnknownCaseIsNamed) {
  const ChildResult result = run_command({cases_program(), "run", "pair/no", "0.001"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(contains(result.standard_error, "'pair/no'")) << result.standard_error;
}
}  // namespace
}  // namespace drey::bench
