// race_test.cpp: drey-bench race over scripts whose figures and lies we know: order of the runs,
// rows, refusals, mismatching weights, missing programs, outputs that are whole or absent.
// SPDX-License-Identifier: MIT
#include "bench/command.hpp"
#include "bench/fake_racers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace drey::bench {
namespace {
class Race : public testing::Test {
 protected:
  Race() {
    add_honest_racers(folder_);
    std::ofstream(folder_.path() / "bars.csv") << "date,close\n";
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const {
    return (folder_.path() / name).string();
  }

  [[nodiscard]] ChildResult race(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        DREY_TEST_BENCH,         "race",   "--rounds",           "2", "--bin-dir",
        folder_.path().string(), "--data", in_folder("bars.csv")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }

  /// Files in the folder whose names start with a dot: what a failed write would leave.
  [[nodiscard]] int hidden_files() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      count += entry.path().filename().string().front() == '.' ? 1 : 0;
    }
    return count;
  }

  TestFolder folder_;
};

TEST_F(Race, ShowsEveryRacerAndCase) {
  const ChildResult result = race();
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  for (const char* expected : {"drey 1.2.3", "system (glibc 1.2.3)", "mimalloc 1.2.3", "12,345",
                               "2,500", "50.0", "pair/64", "threads_exchange",
                               "00c0ffee, equal under all 3", "0.50", "1.00 (1.00-1.00) tie"}) {
    EXPECT_NE(result.standard_output.find(expected), std::string::npos)
        << expected << " is not in\n"
        << result.standard_output;
  }
}

TEST_F(Race, RotatesTheOrderOfTheRounds) {
  ASSERT_EQ(race({"--only", "trainer"}).exit_code, 0);
  std::istringstream log(read_file(in_folder("calls.log")));
  std::vector<std::string> order;
  for (std::string line; std::getline(log, line);) {
    order.push_back(std::filesystem::path(line.substr(0, line.find(' '))).filename().string());
  }
  const std::vector<std::string> expected = {"drey-train",
                                             "drey-train-system",
                                             "drey-train-mimalloc",
                                             "drey-train-system",
                                             "drey-train-mimalloc",
                                             "drey-train",
                                             "drey-train-counted-drey",
                                             "drey-train-counted-system",
                                             "drey-train-counted-mimalloc"};
  EXPECT_EQ(order, expected);
}

TEST_F(Race, GivesAllTrainersTheSameArguments) {
  ASSERT_EQ(race({"--only", "trainer", "--seed", "7", "--max-steps", "300"}).exit_code, 0);
  std::istringstream log(read_file(in_folder("calls.log")));
  for (std::string line; std::getline(log, line);) {
    EXPECT_NE(line.find("--data " + in_folder("bars.csv")), std::string::npos) << line;
    EXPECT_NE(line.find("--seed 7 "), std::string::npos) << line;
    EXPECT_NE(line.find("--max-steps 300"), std::string::npos) << line;
    EXPECT_NE(line.find("--epochs 1 "), std::string::npos) << line;
  }
}

TEST_F(Race, RefusesALyingTrainerAndShowsTheRest) {
  add_trainer(folder_, "drey-train-mimalloc", {"glibc"});
  const ChildResult result = race({"--only", "trainer"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_output.find("REFUSED drey-train-mimalloc: claims mimalloc, but its "
                                        "malloc is glibc 1.2.3 (a script)"),
            std::string::npos)
      << result.standard_output;
  EXPECT_EQ(result.standard_output.find("mimalloc 1.2.3"), std::string::npos);
  EXPECT_NE(result.standard_output.find("drey 1.2.3"), std::string::npos);
}

TEST_F(Race, RefusesALyingMicroProgramAndShowsTheRest) {
  add_micro(folder_, "drey-micro-drey", "jemalloc", "1e-9");
  const ChildResult result = race({"--only", "micro"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_output.find("REFUSED drey-micro-drey: claims drey, but its malloc is "
                                        "jemalloc"),
            std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("system/mimalloc"), std::string::npos);
}

TEST_F(Race, UnequalWeightsAreAnError) {
  FakeTrainer other{"mimalloc"};
  other.hash = "badf00d";
  add_trainer(folder_, "drey-train-mimalloc", other);
  const ChildResult result = race({"--only", "trainer", "--json", in_folder("out.json")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_error.find("weights"), std::string::npos) << result.standard_error;
  EXPECT_EQ(result.standard_output, "");
  EXPECT_FALSE(std::filesystem::exists(in_folder("out.json")));
  EXPECT_EQ(hidden_files(), 0);
}

TEST_F(Race, MissingProgramIsNamedWithTheCommandThatBuildsIt) {
  std::filesystem::remove(in_folder("drey-micro-system"));
  const ChildResult result = race();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  EXPECT_NE(result.standard_error.find("--target drey-micro-system"), std::string::npos)
      << result.standard_error;
}

TEST_F(Race, PassesOnWhatTheTrainerSaysOfBadInput) {
  folder_.write_script("drey-train",
                       "echo 'drey-train: bars.csv: row 3: high < low' >&2; exit 2\n");
  const ChildResult result = race({"--only", "trainer"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_line(result.standard_error));
  EXPECT_NE(result.standard_error.find("row 3: high < low"), std::string::npos);
}

TEST_F(Race, CrashOfATrainerEndsTheRace) {
  folder_.write_script("drey-train-system", "kill -SEGV $$\n");
  const ChildResult result = race({"--only", "trainer"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_error.find("exit code 139"), std::string::npos)
      << result.standard_error;
}

TEST_F(Race, WritesEverySampleAsJson) {
  ASSERT_EQ(race({"--json", in_folder("out.json")}).exit_code, 0);
  const auto json = nlohmann::json::parse(read_file(in_folder("out.json")));
  EXPECT_EQ(json["kind"], "race");
  EXPECT_EQ(json["allocators"].size(), 3u);
  EXPECT_EQ(json["trainer"]["allocators"]["drey"]["runs"].size(), 2u);
  EXPECT_EQ(json["trainer"]["allocators"]["drey"]["heap_calls"]["total"], 12345);
  EXPECT_EQ(json["trainer"]["weights_hash"], "00c0ffee");
  const auto& first = json["micro"]["cases"][0];
  EXPECT_EQ(first["name"], "pair/64");
  EXPECT_EQ(first["pair_ns"]["drey"]["samples"].size(), 2u);
  EXPECT_DOUBLE_EQ(first["ratio"]["drey/system"]["median"].get<double>(), 0.5);
  EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
  EXPECT_EQ(hidden_files(), 0);
}

TEST_F(Race, UnwritableOutputIsFoundBeforeTheRaceRuns) {
  for (const std::string& path :
       {in_folder("no/such/folder/x.html"), folder_.path().string(), std::string("/dev/null")}) {
    const ChildResult result = race({"--html", path});
    EXPECT_EQ(result.exit_code, 2) << path;
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
    EXPECT_NE(result.standard_error.find("--html " + path), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(in_folder("calls.log"))) << "a trainer ran";
}

TEST_F(Race, BadOptionsAreOneLineAndExitCodeTwo) {
  const std::vector<std::vector<std::string>> bad = {
      {"--rounds", "0"},
      {"--rounds", "many"},
      {"--only", "nothing"},
      {"--epochs", "0"},
      {"--max-steps", "0"},
      {"--no-such-option"},
      {"--filter", "("},
      {"--filter", "matches-no-case", "--only", "micro"},
      {"--allocators", "jemalloc"},
      {"--case-seconds", "-1"}};
  for (const auto& options : bad) {
    const ChildResult result = race(options);
    EXPECT_EQ(result.exit_code, 2) << options[0] << " " << options.back();
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
    EXPECT_EQ(result.standard_error.rfind("drey-bench: ", 0), 0u) << result.standard_error;
  }
}

TEST(RaceOptions, MissingDataIsNamed) {
  const ChildResult result = run_command({DREY_TEST_BENCH, "race"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.standard_error.find("--data"), std::string::npos);
  const ChildResult absent = run_command({DREY_TEST_BENCH, "race", "--data", "/no/such.csv"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_NE(absent.standard_error.find("/no/such.csv"), std::string::npos);
}

TEST(RaceOptions, NoVerbIsOneLineAndExitCodeTwo) {
  const ChildResult result = run_command({DREY_TEST_BENCH});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
}
}  // namespace
}  // namespace drey::bench
