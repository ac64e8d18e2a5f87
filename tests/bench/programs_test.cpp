// programs_test.cpp: the real programs: micro binaries refuse a preloaded stranger, the race over
// them runs end to end, drey-run preloads what it says. No timing is judged.
// SPDX-License-Identifier: MIT
#include "bench/command.hpp"
#include "bench/fake_racers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace drey::bench {
namespace {
const std::string& folder_of_programs() {
  static const std::string folder = DREY_TEST_BIN_FOLDER;
  return folder;
}

std::string stranger() {
  return DREY_TEST_LIBRARY_FOLDER "/libjemalloc.so.2";
}

TEST(MicroPrograms, SayWhoseMallocTheyHave) {
  const ChildResult result =
      run_command({folder_of_programs() + "/drey-micro-system", "--active-allocator"});
  EXPECT_EQ(nlohmann::json::parse(result.standard_output)["name"], "glibc");
}

TEST(MicroPrograms, RefuseToMeasureAPreloadedStranger) {
  if (!std::filesystem::exists(stranger())) GTEST_SKIP() << stranger() << " is not installed";
  const ChildResult result =
      run_command({folder_of_programs() + "/drey-micro-system", "--benchmark_filter=pair/64"},
                  {{"LD_PRELOAD", stranger()}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_NE(result.standard_error.find("built to measure glibc, but malloc here is jemalloc"),
            std::string::npos)
      << result.standard_error;
}

TEST(MicroPrograms, RaceEndToEnd) {
  const TestFolder folder;
  const std::string json_path = (folder.path() / "race.json").string();
  const ChildResult result = run_command(
      {DREY_TEST_BENCH, "race", "--only", "micro", "--rounds", "2", "--case-seconds", "0.001",
       "--filter", "^pair/64$|^threads_exchange$", "--allocators", DREY_TEST_SUBJECTS, "--json",
       json_path, "--html", (folder.path() / "race.html").string()});
  ASSERT_EQ(result.exit_code, 0) << result.standard_output << result.standard_error;
  const auto json = nlohmann::json::parse(read_file(json_path));
  ASSERT_EQ(json["micro"]["cases"].size(), 2u);
  for (const auto& one : json["micro"]["cases"]) {
    for (const auto& [key, summary] : one["pair_ns"].items()) {
      EXPECT_EQ(summary["samples"].size(), 2u) << key;
      EXPECT_GT(summary["median"].get<double>(), 0.0) << key;
    }
  }
}

TEST(MicroPrograms, RaceUnderAPreloadRefusesWhoIsReplaced) {
  if (!std::filesystem::exists(stranger())) GTEST_SKIP() << stranger() << " is not installed";
  const ChildResult result =
      run_command({DREY_TEST_BENCH, "race", "--only", "micro", "--allocators", "system", "--filter",
                   "^pair/64$", "--rounds", "1"},
                  {{"LD_PRELOAD", stranger()}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(
      result.standard_output.find("REFUSED drey-micro-system: claims glibc, but its malloc is "
                                  "jemalloc"),
      std::string::npos)
      << result.standard_output << result.standard_error;
  EXPECT_EQ(result.standard_output.find("pair/64"), std::string::npos) << result.standard_output;
}

TEST(Footprint, HasARowOfTheCLibrary) {
  const ChildResult result = run_command({DREY_TEST_BENCH, "footprint", "--rounds", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_output.find("glibc"), std::string::npos) << result.standard_output;
}

TEST(DreyRun, MisuseIsOneLineAndExitCodeTwo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--no-such-option", "true"},
                                                    {"--stats"},
                                                    {"--stats=1", "true"},
                                                    {"--profile"},
                                                    {"--profile", "/no/such/folder/file", "true"},
                                                    {"--stats-json", "/", "true"}}) {
    std::vector<std::string> command = {DREY_TEST_RUN};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ChildResult result = run_command(command, {{"DREY_LIBRARY", stranger()}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  }
}

TEST(DreyRun, MissingLibraryIsNamed) {
  const ChildResult result =
      run_command({DREY_TEST_RUN, "true"}, {{"DREY_LIBRARY", "/no/such/libdrey.so"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_line(result.standard_error));
  EXPECT_NE(result.standard_error.find("/no/such/libdrey.so"), std::string::npos);
}

#ifdef DREY_TEST_DREY_LIBRARY
TEST(DreyRun, MakesDreyTheMallocOfTheProgram) {
  const ChildResult result =
      run_command({DREY_TEST_RUN, "--verbose", folder_of_programs() + "/drey-footprint-probe"},
                  {{"DREY_LIBRARY", ""}, {"LD_PRELOAD", ""}});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const auto answer = nlohmann::json::parse(result.standard_output)["allocator"];
  EXPECT_EQ(answer["name"], "drey");
  EXPECT_EQ(answer["how"], std::string("preloaded: ") + DREY_TEST_DREY_LIBRARY);
  EXPECT_NE(result.standard_error.find(DREY_TEST_DREY_LIBRARY), std::string::npos);
}

TEST(DreyRun, KeepsWhatWasPreloadedAndTheProgramsExitCode) {
  const ChildResult result =
      run_command({DREY_TEST_RUN, "sh", "-c", "echo $LD_PRELOAD $DREY_SHOW_STATS; exit 5"},
                  {{"LD_PRELOAD", "/lib/some.so"}});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.standard_output, std::string(DREY_TEST_DREY_LIBRARY) + ":/lib/some.so\n");
}

TEST(DreyRun, AsksForStatisticsWithStats) {
  const ChildResult result =
      run_command({DREY_TEST_RUN, "--stats", "--", "sh", "-c", "echo $DREY_SHOW_STATS"});
  EXPECT_EQ(result.standard_output, "1\n");
}

TEST(DreyRun, SetsTheVariableOfEachSwitch) {
  const TestFolder folder;
  const std::string file = (folder.path() / "file").string();
  const ChildResult result =
      run_command({DREY_TEST_RUN, "--stats-json", file, "--profile=" + file + "2", "--leaks", "--",
                   "sh", "-c", "echo $DREY_STATS_JSON $DREY_PROFILE $DREY_LEAK_REPORT"});
  EXPECT_EQ(result.standard_output, file + " " + file + "2 1\n") << result.standard_error;
}

TEST(DreyRun, HelpPrintsTheTableThatTheReadmeShows) {
  const ChildResult result = run_command({DREY_TEST_RUN, "--help"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string& help = result.standard_output;
  const std::string table = help.substr(help.find("  DREY_"));
  ASSERT_GT(table.size(), 100u) << help;
  const std::string readme = read_file(DREY_TEST_ALLOC_README);
  EXPECT_NE(readme.find("<!-- options: begin -->\n```\n" + table + "```\n<!-- options: end -->"),
            std::string::npos)
      << "put this between the marks in alloc/README.md:\n"
      << table;
}

TEST(DreyRun, ProgramThatIsNotFoundIs127) {
  const ChildResult result = run_command({DREY_TEST_RUN, "no-such-program-anywhere"});
  EXPECT_EQ(result.exit_code, 127);
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
}
#endif
}  // namespace
}  // namespace drey::bench
