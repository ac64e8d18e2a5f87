// resume_test.cpp: a run that stops and goes on ends like one that never stopped, byte for byte:
// between passes, within a pass, stopped by a signal, or killed.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.hpp"
#include "trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::read_file;
using Options = std::vector<std::string>;

/// Metrics without the last column, which is a speed.
std::string without_speed(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::string result;
  while (std::getline(lines, line)) result += line.substr(0, line.rfind(',')) + "\n";
  return result;
}

/// Starts drey-train, waits for `text` on its output, sends the signal, waits for the end.
/// Returns: the status as waitpid gives it.
int run_and_signal(const Options& options, const std::string& text, int signal_number) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  Options arguments = Options{DREY_TRAIN_PROGRAM} + options;
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string output;
  char buffer[512];
  bool is_sent = false;
  for (ssize_t got = 1; got > 0;) {
    got = ::read(ends[0], buffer, sizeof(buffer));
    if (got > 0) output.append(buffer, static_cast<std::size_t>(got));
    if (!is_sent && output.find(text) != std::string::npos) {
      is_sent = ::kill(child, signal_number) == 0;
    }
  }
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

class Resume : public ::testing::Test {
 protected:
  void SetUp() override {
    expect_success(small_run("4") + Options{"--checkpoint", whole_, "--metrics", whole_metrics_});
  }
  static void expect_success(const Options& options) {
    const ChildResult result = run_trainer(options);
    ASSERT_TRUE(result.succeeded()) << result.summary();
  }
  /// Goes on from `part_` to four epochs and compares with the whole run.
  void expect_same_end() {
    expect_success({"--data", "synthetic:1000:1", "--epochs", "4", "--resume", part_,
                    "--checkpoint", end_, "--metrics", part_metrics_});
    EXPECT_EQ(read_file(end_), read_file(whole_));
    EXPECT_EQ(without_speed(read_file(part_metrics_)), without_speed(read_file(whole_metrics_)));
  }

  TemporaryFolder folder_;
  std::string whole_ = folder_.path("whole.safetensors");
  std::string whole_metrics_ = folder_.path("whole.csv");
  std::string part_ = folder_.path("part.safetensors");
  std::string part_metrics_ = folder_.path("part.csv");
  std::string end_ = folder_.path("end.safetensors");
};

TEST_F(Resume, AfterFewerEpochsIsExact) {
  expect_success(small_run("1") + Options{"--checkpoint", part_, "--metrics", part_metrics_});
  expect_same_end();
}

TEST_F(Resume, WithinAPassIsExact) {
  expect_success(small_run("4") +
                 Options{"--max-steps", "500", "--checkpoint", part_, "--metrics", part_metrics_});
  expect_same_end();
}

TEST_F(Resume, AfterAnInterruptIsExact) {
  const int status =
      run_and_signal(small_run("4") + Options{"--checkpoint", part_, "--metrics", part_metrics_},
                     "epoch 1/", SIGTERM);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  expect_same_end();
}

TEST_F(Resume, AfterAKillIsExact) {
  const int status =
      run_and_signal(small_run("4") + Options{"--checkpoint", part_, "--metrics", part_metrics_},
                     "epoch 2/", SIGKILL);
  ASSERT_TRUE(WIFSIGNALED(status) || WIFEXITED(status));
  expect_same_end();
}

TEST_F(Resume, LeavesFinishedRunsAsTheyAre) {
  expect_success(
      {"--data", "synthetic:1000:1", "--epochs", "4", "--resume", whole_, "--checkpoint", end_});
  EXPECT_EQ(read_file(end_), read_file(whole_));
}

TEST_F(Resume, EvaluationOfACheckpointIsThatOfItsRun) {
  const ChildResult trained = run_trainer(small_run("1") + Options{"--checkpoint", part_});
  const ChildResult evaluated =
      run_trainer({"--data", "synthetic:1000:1", "--eval", "--resume", part_});
  ASSERT_TRUE(evaluated.succeeded()) << evaluated.summary();
  const auto figures = [](const std::string& output) {
    const std::size_t begin = output.find("validation, ");
    return output.substr(begin, output.find("  always flat", begin) - begin);
  };
  EXPECT_EQ(figures(evaluated.output), figures(trained.output));
}
}  // namespace
}  // namespace drey::test
