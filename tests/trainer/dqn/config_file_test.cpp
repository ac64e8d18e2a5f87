// config_file_test.cpp: options in TOML: what --dump-config writes, --config reads back; the command
// line wins; and what is wrong in a file is said in one line with the place.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::write_file;
using Options = std::vector<std::string>;

class ConfigFile : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(path_, "");
    const ChildResult result = run_trainer({"--config", path_, "--dump-config"});
    if (result.error_output.find("built with toml++") != std::string::npos) {
      GTEST_SKIP() << "toml++ was not there when this was built";
    }
    ASSERT_TRUE(result.succeeded()) << result.summary();
  }
  /// What would be used with these options.
  static std::string dump(const Options& options) {
    const ChildResult result = run_trainer(options + Options{"--dump-config"});
    EXPECT_TRUE(result.succeeded()) << result.summary();
    return result.output;
  }
  void refused(const std::string& contents, const std::string& text) {
    write_file(path_, contents);
    const ChildResult result =
        run_trainer({"--config", path_, "--checkpoint", folder_.path("checkpoint")});
    EXPECT_EQ(result.exit_status, 2) << result.summary();
    EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1)
        << result.summary();
    EXPECT_NE(result.error_output.find(path_ + ": " + text), std::string::npos)
        << "wanted: " << text << "\n"
        << result.summary();
    EXPECT_EQ(folder_.file_count(), 1U);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("options.toml");
};

TEST_F(ConfigFile, ReadsBackWhatWasDumped) {
  const std::string dumped =
      dump({"--env", "cartpole", "--hidden", "32,16,8", "--lr", "3e-05", "--per", "--no-double",
            "--loss", "mse", "--seed", "18446744073709551615", "--epochs", "7", "--metrics",
            "a \"b\" \\c.csv", "--no-progress"});
  write_file(path_, dumped);
  EXPECT_EQ(dump({"--config", path_}), dumped);
  EXPECT_NE(dumped.find("\nhidden = [32,16,8]\n"), std::string::npos) << dumped;
  EXPECT_NE(dumped.find("\nlr = 3e-05\n"), std::string::npos) << dumped;
  EXPECT_NE(dumped.find("\ndouble = false\n"), std::string::npos) << dumped;
  EXPECT_NE(dumped.find("\nprogress = false\n"), std::string::npos) << dumped;
  EXPECT_NE(dumped.find("\n# data = \n"), std::string::npos) << dumped;
}

TEST_F(ConfigFile, DecidesTheRunButTheCommandLineWins) {
  write_file(path_,
             "env = \"cartpole\"\nepochs = 1\npass-steps = 60\nbatch = 4\nlearning-starts = 10\n");
  const ChildResult from_file = run_trainer({"--config", path_});
  ASSERT_TRUE(from_file.succeeded()) << from_file.summary();
  EXPECT_NE(from_file.output.find("epoch 1/1"), std::string::npos) << from_file.summary();
  const ChildResult from_line = run_trainer({"--env", "cartpole", "--epochs", "1", "--pass-steps",
                                             "60", "--batch", "4", "--learning-starts", "10"});
  EXPECT_EQ(word_after(from_file.output, "weights hash "),
            word_after(from_line.output, "weights hash "));
  const ChildResult both = run_trainer({"--config", path_, "--epochs", "2"});
  EXPECT_NE(both.output.find("epoch 2/2"), std::string::npos) << both.summary();
}

TEST_F(ConfigFile, IsRefusedWithLineKeyExpectedAndFound) {
  refused("# one\nlearning_rate = 1\n",
          "line 2, key 'learning_rate': expected the name of an option");
  refused("epochs = 1\nlr = \"0.1\"\n",
          "line 2, key 'lr': expected a number from 1e-12 to 1, found '0.1'");
  refused("lr = 2\n", "line 1, key 'lr': expected a number from 1e-12 to 1, found '2'");
  refused("lr = nan\n", "line 1, key 'lr': expected a number");
  refused("batch = 1.5\n",
          "line 1, key 'batch': expected a whole number from 1 to 65536, found '1.5'");
  refused("batch = -1\n", "line 1, key 'batch': expected a whole number");
  refused("seed = \"7\"\n", "line 1, key 'seed': expected a whole number");
  refused("double = 1\n", "line 1, key 'double': expected true or false, found '1'");
  refused("loss = \"mae\"\n", "line 1, key 'loss': expected huber or mse, found 'mae'");
  refused("data = 5\n", "line 1, key 'data': expected a name, found '5'");
  refused("hidden = [128, \"x\"]\n", "line 1, key 'hidden': expected 1 to 8 whole numbers");
  refused("\n[agent]\nlr = 1\n", "line 2, key 'agent': expected the name of an option");
  refused("lr = 2020-01-01\n", "line 1, key 'lr': expected a number from 1e-12 to 1, found a date");
  refused("lr = 0.1\nlr = 0.2\n", "line 2: expected TOML");
  refused("lr = \n", "line 1: expected TOML");
  refused(std::string("\0\x01\xff", 3), "line 1: expected TOML");
}

TEST_F(ConfigFile, ThatIsMissingIsNamed) {
  const ChildResult result = run_trainer({"--config", folder_.path("no.toml")});
  EXPECT_EQ(result.exit_status, 2) << result.summary();
  EXPECT_NE(result.error_output.find("no.toml: cannot open"), std::string::npos)
      << result.summary();
}
}  // namespace
}  // namespace drey::test
