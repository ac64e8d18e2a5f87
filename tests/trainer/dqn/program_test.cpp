// program_test.cpp: what drey-train prints and writes when all is well, and that which allocator
// holds its memory changes nothing but the first line.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "trainer/numeric/isa.hpp"
#include "trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::read_file;
using Options = std::vector<std::string>;

/// A program and the allocator that it must have. Pairs from the build: "path=allocator".
std::vector<std::pair<std::string, std::string>> programs() {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::istringstream words(DREY_TRAIN_PROGRAMS);
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.rfind('=');
    pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST(Programs, NameTheirAllocatorFirst) {
  for (const auto& [program, allocator] : programs()) {
    if (allocator.empty()) GTEST_SKIP() << "the sanitizer's malloc is in use";
    const ChildResult trained = run_trainer(small_run("1"), program);
    ASSERT_TRUE(trained.succeeded()) << trained.summary();
    EXPECT_EQ(word_after(first_line(trained.output), "allocator: "), allocator) << program;
    const ChildResult version = run_trainer({"--version"}, program);
    ASSERT_TRUE(version.succeeded()) << version.summary();
    EXPECT_EQ(version.output.rfind("drey-train " DREY_VERSION, 0), 0U) << version.output;
    EXPECT_EQ(word_after(version.output, "allocator: "), allocator) << program;
  }
}

TEST(Programs, EndWithTheSameWeightsWhateverTheAllocator) {
  std::string hash;
  for (const auto& [program, allocator] : programs()) {
    const ChildResult result = run_trainer(small_run("2"), program);
    ASSERT_TRUE(result.succeeded()) << result.summary();
    const std::string found = word_after(result.output, "weights hash ");
    EXPECT_EQ(found.size(), 16U) << result.output;
    if (hash.empty()) hash = found;
    EXPECT_EQ(found, hash) << program;
  }
}

TEST(Program, SeedDecidesTheWeights) {
  const auto hash_of = [](const std::string& seed) {
    return word_after(run_trainer(small_run("1") + Options{"--seed", seed}).output,
                      "weights hash ");
  };
  EXPECT_EQ(hash_of("5"), hash_of("5"));
  EXPECT_NE(hash_of("5"), hash_of("6"));
}

TEST(Program, NamesItsKernelsAndTheirPrecision) {
  const TemporaryFolder folder;
  const Options options =
      Options{DREY_TRAIN_PROGRAM} + small_run("1") + Options{"--stats-json", folder.path("json")};
  const ChildResult plain = run_program(options, {{"DREY_ISA", "portable"}}, kLimitSeconds);
  ASSERT_TRUE(plain.succeeded()) << plain.summary();
  EXPECT_NE(plain.output.find("\nkernels: portable, f32\n"), std::string::npos) << plain.output;
  const nlohmann::json json = nlohmann::json::parse(read_file(folder.path("json")));
  EXPECT_EQ(json["kernels"], (nlohmann::json{{"isa", "portable"}, {"precision", "f32"}}));
  if (!is_supported(drey::trainer::Isa::kAvx512Bf16)) GTEST_SKIP() << "this machine has no bf16";
  const ChildResult rounded = run_program(options + Options{"--precision", "bf16"},
                                          {{"DREY_ISA", "avx512bf16"}}, kLimitSeconds);
  EXPECT_NE(rounded.output.find("\nkernels: avx512bf16, bf16\n"), std::string::npos)
      << rounded.summary();
}

TEST(Program, StatisticsHaveTheMembersThatOthersRead) {
  const TemporaryFolder folder;
  const ChildResult result =
      run_trainer(small_run("2") + Options{"--stats-json", folder.path("stats.json")});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  const nlohmann::json json = nlohmann::json::parse(read_file(folder.path("stats.json")));
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["environment_steps"], 2 * 389);
  EXPECT_EQ(json["gradient_steps"], 2 * 389 - 49);
  EXPECT_GT(json["train_seconds"], 0.0);
  EXPECT_GT(json["gradient_steps_per_second"], 0.0);
  EXPECT_GT(json["peak_rss_bytes"], 1000000);
  EXPECT_TRUE(json["heap_calls"].is_null());
  EXPECT_EQ(json["weights_hash"], word_after(result.output, "weights hash "));
  EXPECT_TRUE(json["allocator"]["name"].is_string());
  EXPECT_TRUE(json["allocator"]["version"].is_string());
  EXPECT_TRUE(json["allocator"]["how"].is_string());
  EXPECT_TRUE(json["evaluation"]["agent_return"].is_number());
  EXPECT_TRUE(json["evaluation"]["buy_and_hold_return"].is_number());
  EXPECT_EQ(json["evaluation"]["flat_return"], 0.0);
}

TEST(Program, WritesOneRowOfMetricsPerEpoch) {
  const TemporaryFolder folder;
  const ChildResult result =
      run_trainer(small_run("3") + Options{"--metrics", folder.path("metrics.csv")});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  std::istringstream lines(read_file(folder.path("metrics.csv")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "epoch,environment_steps,gradient_steps,epsilon,learning_rate,loss,q_mean,train_return,"
            "validation_return,steps_per_second");
  for (int epoch = 1; epoch <= 3; ++epoch) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line.rfind(std::to_string(epoch) + "," + std::to_string(epoch * 389) + ",", 0), 0U)
        << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9) << line;
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Program, LeavesTheValidationEmptyWhereNoneWasDue) {
  const TemporaryFolder folder;
  const ChildResult result =
      run_trainer({"--env", "cartpole", "--epochs", "2", "--pass-steps", "50", "--eval-every", "2",
                   "--eval-episodes", "1", "--metrics", folder.path("metrics.csv")});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  std::istringstream lines(read_file(folder.path("metrics.csv")));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  EXPECT_NE(line.find(",,"), std::string::npos) << line;
  std::getline(lines, line);
  EXPECT_EQ(line.find(",,"), std::string::npos) << line;
}

TEST(Program, DrawsItsBarOnlyWhenAsked) {
  EXPECT_EQ(run_trainer(small_run("1")).error_output, "");
  EXPECT_EQ(run_trainer(small_run("1") + Options{"--no-progress"}).error_output, "");
  EXPECT_NE(run_trainer(small_run("2") + Options{"--progress"}).error_output.find('\r'),
            std::string::npos);
}

TEST(Program, StopsAfterMaxSteps) {
  const TemporaryFolder folder;
  const ChildResult result = run_trainer(
      small_run("9") + Options{"--max-steps", "400", "--stats-json", folder.path("stats.json")});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  EXPECT_EQ(nlohmann::json::parse(read_file(folder.path("stats.json")))["gradient_steps"], 400);
}

constexpr const char* kOptions[] = {"--data",
                                    "--symbol",
                                    "--epochs",
                                    "--batch",
                                    "--buffer",
                                    "--lr",
                                    "--gamma",
                                    "--tau",
                                    "--double",
                                    "--no-double",
                                    "--eps-start",
                                    "--eps-end",
                                    "--eps-fraction",
                                    "--eps-horizon",
                                    "--fee",
                                    "--val-fraction",
                                    "--learning-starts",
                                    "--train-frequency",
                                    "--grad-clip",
                                    "--seed",
                                    "--checkpoint",
                                    "--checkpoint-every",
                                    "--resume",
                                    "--eval",
                                    "--metrics",
                                    "--stats-json",
                                    "--max-steps",
                                    "--progress",
                                    "--no-progress",
                                    "--version",
                                    "--reward-scale",
                                    "--env",
                                    "--envs",
                                    "--pass-steps",
                                    "--hidden",
                                    "--gradient-steps",
                                    "--lr-schedule",
                                    "--dueling",
                                    "--no-dueling",
                                    "--n-step",
                                    "--per",
                                    "--per-alpha",
                                    "--per-beta",
                                    "--loss",
                                    "--target",
                                    "--target-interval",
                                    "--eps-schedule",
                                    "--eval-every",
                                    "--early-stop",
                                    "--checkpoint-dir",
                                    "--config",
                                    "--dump-config"};

TEST(Program, HelpNamesEveryOption) {
  const ChildResult result = run_trainer({"--help"});
  ASSERT_TRUE(result.succeeded()) << result.summary();
  for (const char* option : kOptions) {
    EXPECT_NE(result.output.find(std::string(option) + " "), std::string::npos) << option;
  }
}

TEST(Program, FailsWhenAStepMadeAHeapCall) {
  const ChildResult result = run_trainer(small_run("1"), DREY_TRAIN_LEAKY_PROGRAM);
  EXPECT_EQ(result.exit_status, 3) << result.summary();
  EXPECT_NE(result.error_output.find("expected no heap calls in steps after warm-up, found"),
            std::string::npos)
      << result.summary();
}

TEST(Program, MakesNoHeapCallInStepsWhereTheyAreCounted) {
  const std::string counted = DREY_TRAIN_COUNTED_PROGRAM;
  if (counted.empty()) GTEST_SKIP() << "no program with a counter in this build";
  const TemporaryFolder folder;
  const ChildResult result =
      run_trainer(small_run("2") + Options{"--stats-json", folder.path("stats.json")}, counted);
  ASSERT_TRUE(result.succeeded()) << result.summary();
  const nlohmann::json json = nlohmann::json::parse(read_file(folder.path("stats.json")));
  EXPECT_GT(json["heap_calls"]["total"], 100);
  EXPECT_EQ(json["heap_calls"]["in_steps_after_warmup"], 0);
}
}  // namespace
}  // namespace drey::test
