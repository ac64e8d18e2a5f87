// child_test.cpp: children are measured, captured whole, and stopped when they run over their time.
// SPDX-License-Identifier: MIT
#include "race/child.hpp"

#include "bench/command.hpp"
#include "bench/fake_racers.hpp"
#include "race/error.hpp"
#include "race/output_file.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace drey::bench {
namespace {
TEST(Child, OutputAndErrorAreKeptApart) {
  const ChildResult result =
      run_command({"/bin/sh", "-c", "echo out; echo first >&2; echo last >&2"});
  EXPECT_EQ(result.standard_output, "out\n");
  EXPECT_EQ(result.standard_error, "first\nlast\n");
  EXPECT_EQ(result.last_words(), "last");
}

TEST(Child, OutputLargerThanAnyPipeIsKeptWhole) {
  const ChildResult result = run_command({"/bin/sh", "-c", "head -c 3000000 /dev/zero"});
  EXPECT_EQ(result.standard_output.size(), 3'000'000u);
}

TEST(Child, ExitCodesAndSignalsAreToldApart) {
  EXPECT_EQ(run_command({"/bin/sh", "-c", "exit 3"}).exit_code, 3);
  EXPECT_EQ(run_command({"/bin/sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
}

TEST(Child, EnvironmentIsAddedAndReplaced) {
  const ChildResult result = run_command({"/bin/sh", "-c", "echo $HOME $DREY_TEST_WORD"},
                                         {{"HOME", "/nowhere"}, {"DREY_TEST_WORD", "yes"}});
  EXPECT_EQ(result.standard_output, "/nowhere yes\n");
}

TEST(Child, CpuTimeOfWorkIsCounted) {
  const ChildResult result =
      run_command({"/bin/sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"});
  EXPECT_GT(result.cpu_seconds, 0.0);
  EXPECT_GE(result.wall_seconds, 0.0);
}

TEST(Child, BoundChildMayUseOneCore) {
  ChildCommand command;
  command.arguments = {"/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"};
  command.bind_to_one_core = true;
  const ChildResult result = run_child(command);
  const std::string expected = "Cpus_allowed_list:\t" + std::to_string(bound_core()) + "\n";
  EXPECT_EQ(result.standard_output, expected);
}

TEST(Child, MissingProgramIsBadInput) {
  EXPECT_THROW(static_cast<void>(run_command({"/no/such/program"})), BadInput);
}

TEST(Child, RunningOverItsTimeIsKilled) {
  ChildCommand command;
  command.arguments = {"/bin/sleep", "1000"};
  command.limit_seconds = 1;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(run_child(command)), RaceFailed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(OutputFile, AppearsWithCommitOnly) {
  const TestFolder folder;
  const auto target = folder.path() / "report.txt";
  {
    OutputFile abandoned("--out", target);
    EXPECT_FALSE(std::filesystem::exists(target));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  OutputFile file("--out", target);
  file.commit("whole\n");
  EXPECT_EQ(read_file(target), "whole\n");
}

TEST(OutputFile, KeepsTheOldReportUntilTheNewOneIsWhole) {
  const TestFolder folder;
  const auto target = folder.path() / "report.txt";
  std::ofstream(target) << "old\n";
  { const OutputFile abandoned("--out", target); }
  EXPECT_EQ(read_file(target), "old\n");
}
}  // namespace
}  // namespace drey::bench
