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
#include "trainer/files/safetensors.hpp"
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

/// Options that between them use all that a checkpoint must hold.
const Options kVariants[] = {
    {"--env", "cartpole", "--per", "--n-step", "3", "--dueling", "--envs", "3", "--lr-schedule",
     "cosine", "--eps-schedule", "cosine", "--loss", "mse", "--eval-episodes", "2"},
    {"--env", "cartpole", "--target", "hard", "--target-interval", "7", "--train-frequency", "5",
     "--gradient-steps", "3", "--hidden", "16", "--no-double", "--eval-every", "2"},
    {"--data", "synthetic:1000:1", "--per", "--n-step", "5", "--envs", "4", "--lr-schedule",
     "linear"}};

TEST(ResumeOfEveryOption, WithinAPassIsExact) {
  for (const Options& variant : kVariants) {
    const TemporaryFolder folder;
    const Options options =
        variant + Options{"--epochs", "4",   "--learning-starts", "50",  "--batch",      "16",
                          "--buffer", "300", "--pass-steps",      "200", "--early-stop", "9"};
    const auto run = [&](const Options& more) {
      const ChildResult result = run_trainer(options + more);
      ASSERT_TRUE(result.succeeded()) << result.summary();
    };
    run({"--checkpoint", folder.path("whole"), "--metrics", folder.path("whole.csv")});
    run({"--max-steps", "301", "--checkpoint", folder.path("part"), "--metrics",
         folder.path("part.csv")});
    run({"--resume", folder.path("part"), "--checkpoint", folder.path("end"), "--metrics",
         folder.path("part.csv")});
    EXPECT_TRUE(read_file(folder.path("end")) == read_file(folder.path("whole"))) << variant[1];
    EXPECT_EQ(without_speed(read_file(folder.path("part.csv"))),
              without_speed(read_file(folder.path("whole.csv"))));
  }
}

TEST(CheckpointFolder, HoldsTheLastAndTheBestOfTheRun) {
  const TemporaryFolder folder;
  const std::string kept = folder.path("kept");
  const Options options = {"--env",
                           "cartpole",
                           "--epochs",
                           "40",
                           "--pass-steps",
                           "100",
                           "--early-stop",
                           "3",
                           "--batch",
                           "16",
                           "--lr",
                           "0.001",
                           "--checkpoint-dir",
                           kept,
                           "--eval-episodes",
                           "3",
                           "--reward-scale",
                           "0.02",
                           "--hidden",
                           "32",
                           "--learning-starts",
                           "50"};
  const ChildResult result = run_trainer(options);
  ASSERT_TRUE(result.succeeded()) << result.summary();
  EXPECT_NE(result.output.find("stopped early: 3 evaluations without a better one"),
            std::string::npos)
      << result.summary();
  // The best that was logged is what its checkpoint gives, and the last is where the run ended.
  const std::size_t best = result.output.rfind(" (best)");
  const std::size_t begin = result.output.rfind(' ', best - 1) + 2;  // behind the sign
  const std::string best_return = result.output.substr(begin, best - begin);
  const auto evaluate = [&](const std::string& name) {
    return run_trainer({"--env", "cartpole", "--eval", "--resume", kept + name});
  };
  EXPECT_EQ(word_after(evaluate("/best.safetensors").output, "agent         return "), best_return);
  EXPECT_EQ(word_after(evaluate("/last.safetensors").output, "agent         return "),
            word_after(result.output, "agent         return "));
  // A run that stopped early has nothing left to do.
  const ChildResult again = run_trainer({"--resume", kept + "/last.safetensors", "--epochs", "40",
                                         "--early-stop", "3", "--checkpoint", folder.path("end")});
  ASSERT_TRUE(again.succeeded()) << again.summary();
  EXPECT_TRUE(read_file(folder.path("end")) == read_file(kept + "/last.safetensors"));
}

TEST(Checkpoint, IsWholeWheneverTheProgramIsKilled) {
  // An epoch is one step here, so nearly all of the time goes into writing files: the line of an
  // epoch is printed just before its checkpoint is saved, and the kill comes in the midst of it.
  const TemporaryFolder folder;
  const std::string path = folder.path("checkpoint");
  const Options options = {"--env",   "cartpole", "--pass-steps", "1",  "--epochs",     "100000",
                           "--batch", "4",        "--checkpoint", path, "--eval-every", "1000"};
  for (int kill = 1; kill <= 12; ++kill) {
    const std::string epoch = "epoch " + std::to_string(3 * kill) + "/";
    const Options resumed = kill == 1 ? Options{} : Options{"--resume", path};
    const int status = run_and_signal(options + resumed, epoch, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(status)) << kill;
    const trainer::TensorReader reader(path, read_file(path));  // fails when it is not whole
    EXPECT_EQ(reader.metadata("format"), "drey-train 2");
  }
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
