// bad_input_test.cpp: whatever is wrong, drey-train says so in one line, exits with 2 and leaves no
// file behind.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "trainer/data/synthetic_bars.hpp"
#include "trainer/data/time_text.hpp"
#include "trainer/files/safetensors.hpp"
#include "trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::write_file;

/// Expects one line with `text` in it, exit status 2, and only the files that were there before.
void expect_refusal(const TemporaryFolder& folder, const std::vector<std::string>& options,
                    const std::string& text) {
  const std::size_t files_before = folder.file_count();
  const ChildResult result = run_trainer(options);
  EXPECT_EQ(result.exit_status, 2) << result.summary();
  EXPECT_EQ(result.error_output.rfind("drey-train: ", 0), 0U) << result.summary();
  EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1)
      << result.summary();
  EXPECT_NE(result.error_output.find(text), std::string::npos) << "wanted: " << text << "\n"
                                                               << result.summary();
  EXPECT_EQ(result.output.find("epoch 1/"), std::string::npos) << result.summary();
  EXPECT_EQ(folder.file_count(), files_before) << result.summary();
}

std::string csv_of(std::size_t rows) {
  std::string text = "timestamp,open,high,low,close,volume\n";
  for (const drey::trainer::Bar& bar : drey::trainer::synthetic_bars(rows, 5).bars) {
    text += drey::trainer::format_time(bar.timestamp_ns);
    for (const double value : {bar.open, bar.high, bar.low, bar.close, bar.volume}) {
      text.append(",").append(std::to_string(value));
    }
    text += "\n";
  }
  return text;
}

/// A valid file whose line `row` (the header is 1) is another.
std::string csv_with(std::size_t row, const std::string& line) {
  std::string text = csv_of(600);
  std::size_t begin = 0;
  for (std::size_t count = 1; count < row; ++count) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, line);
}

TEST(BadOption, IsNamedWithWhatWasExpectedAndFound) {
  const TemporaryFolder folder;
  const std::vector<std::string> base = {"--data", "synthetic:1000:1"};
  const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
    expect_refusal(folder, base + options, text);
  };
  refused({"--epochs", "1", "--learning-rate", "1"}, "unknown option '--learning-rate'");
  refused({"--epochs", "1", "-z"}, "unknown option '-z'");
  refused({"--epochs", "1", "stray"}, "unexpected argument 'stray'");
  refused({"--epochs", "0"},
          "option --epochs: expected a whole number from 1 to 1000000, found '0'");
  refused({"--epochs", "1.5"}, "found '1.5'");
  refused({"--epochs", "-1"}, "found '-1'");
  refused({"--epochs", "99999999999999999999"}, "found '99999999999999999999'");
  refused({"--epochs", ""}, "found ''");
  refused({}, "option --epochs: expected a whole number from 1 to 1000000, found nothing");
  refused({"--epochs"}, "--epochs");
  refused({"--epochs", "1", "--epochs", "2"}, "--epochs");
  refused({"--epochs", "1", "--batch", "0"}, "option --batch: expected a whole number from 1 to");
  refused({"--epochs", "1", "--lr", "nan"},
          "option --lr: expected a number from 1e-12 to 1, found");
  refused({"--epochs", "1", "--lr", "inf"}, "option --lr");
  refused({"--epochs", "1", "--lr", "1e-4x"}, "option --lr");
  refused({"--epochs", "1", "--gamma", "1.01"}, "option --gamma: expected a number from 0 to 1");
  refused({"--epochs", "1", "--tau", "-0.1"}, "option --tau");
  refused({"--epochs", "1", "--fee", "0.9"}, "option --fee");
  refused({"--epochs", "1", "--val-fraction", "1"}, "option --val-fraction");
  refused({"--epochs", "1", "--eps-start", "0.1", "--eps-end", "0.2"}, "option --eps-end");
  refused({"--epochs", "1", "--double", "--no-double"}, "--double");
}

TEST(BadOption, OfTheAgentIsNamedWithWhatWasExpectedAndFound) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
    expect_refusal(folder, std::vector<std::string>{"--data", "synthetic:1000:1"} + options, text);
  };
  refused({"--epochs", "1", "--env", "chess"},
          "option --env: expected trading or cartpole, found 'chess'");
  refused({"--epochs", "1", "--envs", "390"}, "option --envs: expected at most 389");
  refused({"--epochs", "1", "--hidden", "64,0"},
          "option --hidden: expected 1 to 8 whole numbers from 1 to 4096 with commas between");
  refused({"--epochs", "1", "--hidden", "64,"}, "option --hidden");
  refused({"--epochs", "1", "--hidden", "1,1,1,1,1,1,1,1,1"}, "option --hidden");
  refused({"--epochs", "1", "--loss", "mae"}, "option --loss: expected huber or mse, found 'mae'");
  refused({"--epochs", "1", "--target", "slow"}, "option --target: expected soft or hard");
  refused({"--epochs", "1", "--lr-schedule", "step"},
          "option --lr-schedule: expected constant, linear or cosine, found 'step'");
  refused({"--epochs", "1", "--n-step", "65"},
          "option --n-step: expected a whole number from 1 to");
  refused({"--epochs", "1", "--n-step", "0"}, "option --n-step");
  refused({"--epochs", "1", "--per-alpha", "1.5"}, "option --per-alpha");
  refused({"--epochs", "1", "--early-stop", "0"}, "option --early-stop");
  refused({"--epochs", "1", "--dueling", "--no-dueling"}, "--dueling");
  refused({"--eval"}, "option --eval: expected a checkpoint given by --resume");
  refused({"--epochs", "1", "--metrics", "same", "--stats-json", "same"}, "another file than");
  expect_refusal(folder, {"--epochs", "1"}, "option --data: expected");
  expect_refusal(folder, {"--epochs", "1", "--data", "synthetic:x:1"}, "synthetic:ROWS:SEED");
}

TEST(BadData, IsNamedByFileRowAndColumn) {
  const TemporaryFolder folder;
  const std::string path = folder.path("bars.csv");
  const std::vector<std::string> options = {"--data",       path,
                                            "--epochs",     "1",
                                            "--checkpoint", folder.path("out.safetensors"),
                                            "--metrics",    folder.path("out.csv"),
                                            "--stats-json", folder.path("out.json")};
  expect_refusal(folder, options, path + ": ");  // missing
  const auto refused = [&](const std::string& contents, const std::string& text) {
    write_file(path, contents);
    expect_refusal(folder, options, text);
    EXPECT_NE(run_trainer(options).error_output.find(path), std::string::npos);
  };
  refused("", path);
  refused("timestamp,open,high,low,close\n1,1,1,1,1\n", "volume");
  refused(csv_with(10, "2030-01-01T00:00:00Z,1,1,x,1,1"), "row 10, column 'low'");
  refused(csv_with(11, "2030-01-01T00:00:00Z,1,1,1,nan,1"), "row 11, column 'close'");
  refused(csv_with(12, "2030-01-01T00:00:00Z,1,1,2,1,1"), "row 12");
  refused(csv_with(13, "2001-01-01T00:00:00Z,1,1,1,1,1"), "row 13");
  refused(csv_of(512), "512");
  refused(csv_of(515), "515 bars");
}

TEST(BadOutput, OfAFolderIsFoundAndNoEmptyOneStays) {
  const TemporaryFolder folder;
  write_file(folder.path("file"), "");
  expect_refusal(folder,
                 small_run("1") + std::vector<std::string>{"--checkpoint-dir", folder.path("file")},
                 "expected a folder, found a file");
  expect_refusal(
      folder, small_run("1") + std::vector<std::string>{"--checkpoint-dir", folder.path("no/no")},
      "cannot make the folder");
  expect_refusal(
      folder,
      {"--data", folder.path("missing"), "--epochs", "1", "--checkpoint-dir", folder.path("made")},
      "missing");
}

TEST(BadOutput, IsFoundBeforeTraining) {
  const TemporaryFolder folder;
  for (const std::string option : {"--checkpoint", "--metrics", "--stats-json"}) {
    const std::string path = folder.path("missing/out");
    expect_refusal(folder, small_run("1") + std::vector<std::string>{option, path}, path);
    expect_refusal(folder, small_run("1") + std::vector<std::string>{option, folder.path("")},
                   "expected a file, found a directory");
  }
}

TEST(BadOutput, OfADiskThatIsFullIsALineAndTheLastCheckpointStays) {
  const TemporaryFolder folder;
  const std::string path = folder.path("checkpoint");
  const std::vector<std::string> options = {"--checkpoint", path, "--metrics", folder.path("csv")};
  const ChildResult first = run_trainer(small_run("1") + options);
  ASSERT_TRUE(first.succeeded()) << first.summary();
  const std::string before = drey::trainer::read_file(path);
  // A file of the next checkpoint's size is refused as a full disk would refuse it.
  const std::vector<std::string> limited = {
      "/bin/sh", "-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"", DREY_TRAIN_PROGRAM};
  const ChildResult second =
      run_program(limited + small_run("2") + options + std::vector<std::string>{"--resume", path},
                  {}, kLimitSeconds);
  EXPECT_EQ(second.exit_status, 2) << second.summary();
  EXPECT_EQ(second.error_output.rfind("drey-train: " + path + ": cannot write", 0), 0U)
      << second.summary();
  EXPECT_EQ(std::count(second.error_output.begin(), second.error_output.end(), '\n'), 1)
      << second.summary();
  EXPECT_TRUE(drey::trainer::read_file(path) == before) << "the checkpoint of the first run";
  EXPECT_EQ(folder.file_count(), 2U) << "the two files of the first run, nothing half-written";
}

/// A checkpoint with the hyperparameters of `good`, that stops where the width of the first layer is
/// looked at.
std::string checkpoint_of_width(const std::string& good, std::uint64_t width) {
  const drey::trainer::TensorReader reader("good", good);
  drey::trainer::TensorWriter writer;
  const std::vector<float> weights(128 * width);
  writer.add("network.0.weight", {128, width}, std::span<const float>(weights));
  writer.set_metadata("format", reader.metadata("format"));
  writer.set_metadata("hyperparameters", reader.metadata("hyperparameters"));
  writer.set_metadata("state", "{}");
  return writer.file_contents();
}

class BadCheckpoint : public ::testing::Test {
 protected:
  void SetUp() override {
    const ChildResult result =
        run_trainer(small_run("1") + std::vector<std::string>{"--checkpoint", good_});
    ASSERT_TRUE(result.succeeded()) << result.summary();
  }
  void refused(const std::string& contents, const std::string& text) {
    write_file(bad_, contents);
    expect_refusal(folder_, resume(bad_), text);
  }
  static std::vector<std::string> resume(const std::string& path) {
    return {"--data", "synthetic:1000:1", "--epochs", "2", "--resume", path};
  }

  TemporaryFolder folder_;
  std::string good_ = folder_.path("good.safetensors");
  std::string bad_ = folder_.path("bad.safetensors");
};

TEST_F(BadCheckpoint, IsNamedWithWhatWasExpectedAndFound) {
  const std::string good = drey::trainer::read_file(good_);
  refused(checkpoint_of_width(good, 224), "expected 225 features in 'network.0.weight', found 224");
  refused("", "at least 8 bytes");
  refused(good.substr(0, good.size() - 1), "the file is cut");
  refused(good.substr(0, 100), "a safetensors header that fits");
  refused(std::string("\x10\0\0\0\0\0\0\0", 8) + "header garbage!!", "header in JSON");
  std::string wrong_type = good;
  wrong_type.replace(wrong_type.find("\"F32\""), 5, "\"I32\"");
  refused(wrong_type, "expected dtype F32");
  const auto with_format = [&](const std::string& format) {
    return std::string(good).replace(good.find("drey-train 2"), 12, format);
  };
  refused(with_format("drey-train 9"), "expected format 'drey-train 2', found 'drey-train 9'");
  refused(with_format("drey-train 1"), "found 'drey-train 1', of a version before this one");
  std::string other_order = good;
  other_order.replace(other_order.find("l_c1,c_c1"), 9, "c_c1,l_c1");
  refused(other_order, "expected feature 'l_c1' in place 2 of the features, found 'c_c1'");
  expect_refusal(folder_, resume(folder_.path("missing")), "missing: cannot open");
}

TEST_F(BadCheckpoint, OfOtherDataIsRefused) {
  expect_refusal(folder_, {"--data", "synthetic:1000:2", "--epochs", "2", "--resume", good_},
                 "expected the bars it was trained on, 'synthetic:1000:1' with 1000 bars");
}

TEST_F(BadCheckpoint, OfOtherHyperparametersIsRefused) {
  expect_refusal(folder_, resume(good_) + std::vector<std::string>{"--lr", "0.5"},
                 "option --lr to be left out or 1e-04");
  expect_refusal(folder_, resume(good_) + std::vector<std::string>{"--no-double"},
                 "option --double to be left out or true");
  expect_refusal(folder_, resume(good_) + std::vector<std::string>{"--batch", "32"},
                 "option --batch to be left out or 16");
}
}  // namespace
}  // namespace drey::test
