// program_files_test.cpp: the files that a run leaves for others: a tiny training with --onnx,
// --tensorboard and --report, each file read back and compared with what the run says elsewhere.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trainer/data/synthetic_bars.hpp"
#include "trainer/dqn/temporary_folder.hpp"
#include "trainer/dqn/trainer_program.hpp"
#include "trainer/features/feature_names.hpp"
#include "trainer/features/features.hpp"
#include "trainer/features/normaliser.hpp"
#include "trainer/files/event_records.hpp"
#include "trainer/files/onnx_interpreter.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::test {
namespace {
using namespace drey::trainer;
using Options = std::vector<std::string>;

class ProgramFiles : public ::testing::Test {
 protected:
  ChildResult train(const std::string& epochs, const Options& more) {
    const ChildResult result = run_trainer(
        small_run(epochs) +
        Options{"--stats-json", stats_, "--checkpoint", checkpoint_, "--metrics", metrics_} + more);
    EXPECT_TRUE(result.succeeded()) << result.summary();
    return result;
  }
  std::vector<std::filesystem::path> event_files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(events_))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  /// A column of the metrics, by its name.
  std::vector<double> metric(const std::string& name) const {
    std::istringstream lines(read_file(metrics_));
    std::string line;
    std::getline(lines, line);
    const auto cell = [](const std::string& row, std::size_t column) {
      std::istringstream cells(row);
      std::string text;
      for (std::size_t i = 0; i <= column; ++i) std::getline(cells, text, ',');
      return text;
    };
    std::size_t column = 0;
    while (cell(line, column) != name) ++column;
    std::vector<double> values;
    while (std::getline(lines, line)) values.push_back(std::stod(cell(line, column)));
    return values;
  }

  TemporaryFolder folder_;
  std::string stats_ = folder_.path("stats.json");
  std::string checkpoint_ = folder_.path("agent.safetensors");
  std::string metrics_ = folder_.path("metrics.csv");
  std::string events_ = folder_.path("runs/first");
  std::string onnx_ = folder_.path("agent.onnx");
  std::string report_ = folder_.path("report.html");
};

struct Event {
  std::uint64_t step;
  std::map<std::string, float> scalars;
};

/// All but the first record, which is the version.
std::vector<Event> events_of(const std::string& path) {
  const std::vector<std::string> records = records_of(path);
  std::vector<Event> events;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const ProtobufMessage message(records[i]);
    Event event{message.one(2).value, {}};
    const ProtobufMessage summary = message.message(5);
    for (const ProtobufField& field : summary.all(1)) {
      const ProtobufMessage value(field.bytes);
      event.scalars[value.text(1)] =
          std::bit_cast<float>(static_cast<std::uint32_t>(value.one(2).value));
    }
    events.push_back(event);
  }
  return events;
}

TEST_F(ProgramFiles, EventsAreTheRowsOfTheMetrics) {
  train("3", {"--tensorboard", events_});
  ASSERT_EQ(event_files().size(), 1U);
  const std::vector<Event> events = events_of(event_files()[0]);
  ASSERT_EQ(events.size(), 3U);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& scalars = events[i].scalars;
    EXPECT_EQ(events[i].step, 389 * (i + 1));
    EXPECT_NEAR(scalars.at("losses/td_loss"), metric("loss")[i], 1e-5);
    EXPECT_NEAR(scalars.at("losses/q_values"), metric("q_mean")[i], 1e-5);
    EXPECT_NEAR(scalars.at("charts/epsilon"), metric("epsilon")[i], 1e-5);
    EXPECT_NEAR(scalars.at("charts/episodic_return"), metric("train_return")[i], 1e-5);
    EXPECT_NEAR(scalars.at("eval/episodic_return"), metric("validation_return")[i], 1e-5);
    EXPECT_NEAR(scalars.at("charts/learning_rate"), 1e-4, 1e-9);
    EXPECT_GT(scalars.at("charts/SPS"), 0.0F);
  }
}

TEST_F(ProgramFiles, ResumedRunGoesOnInAFileOfItsOwn) {
  train("1", {"--tensorboard", events_});
  train("2", {"--tensorboard", events_, "--resume", checkpoint_});
  const auto files = event_files();
  ASSERT_EQ(files.size(), 2U);
  std::vector<std::uint64_t> steps;
  for (const auto& file : files) {
    const std::vector<Event> events = events_of(file);
    ASSERT_EQ(events.size(), 1U);
    steps.push_back(events[0].step);
  }
  std::sort(steps.begin(), steps.end());
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{389, 2 * 389}));
}

/// A layer of a checkpoint on one input.
std::vector<double> through(const TensorReader& reader, const std::string& name,
                            const std::vector<double>& input) {
  const TensorShape shape = reader.shape_of(name + ".weight");
  std::vector<float> weights(shape[0] * shape[1]);
  std::vector<float> bias(shape[0]);
  reader.read(name + ".weight", shape, std::span(weights));
  reader.read(name + ".bias", {shape[0]}, std::span(bias));
  std::vector<double> output(bias.begin(), bias.end());
  for (std::size_t to = 0; to < output.size(); ++to) {
    for (std::size_t from = 0; from < input.size(); ++from)
      output[to] += static_cast<double>(weights[to * input.size() + from]) * input[from];
  }
  return output;
}

/// The checkpoint's values of a row, by the checkpoint's own normaliser.
std::vector<double> values_of(const TensorReader& reader, std::span<const float> features) {
  Normaliser::Values median{};
  Normaliser::Values scale{};
  reader.read("normaliser.median", {kFeatureDim}, std::span<float>(median));
  reader.read("normaliser.scale", {kFeatureDim}, std::span<float>(scale));
  std::array<float, kFeatureDim> row{};
  std::copy(features.begin(), features.end(), row.begin());
  Normaliser(median, scale).apply(std::span<float, kFeatureDim>(row));
  std::vector<double> x(row.begin(), row.end());
  for (const char* layer : {"network.0", "network.1"}) {
    x = through(reader, layer, x);
    for (double& value : x) value = std::max(value, 0.0);
  }
  std::vector<double> q = through(reader, "network.advantage", x);
  const double shift = through(reader, "network.value", x)[0] - (q[0] + q[1] + q[2]) / 3.0;
  for (double& value : q) value += shift;
  return q;
}

TEST_F(ProgramFiles, OnnxGivesTheValuesOfTheCheckpointFromRawFeatures) {
  const ChildResult trained = train("1", {"--dueling", "--onnx", onnx_});
  const OnnxGraph graph(read_file(onnx_));
  const TensorReader reader(checkpoint_, read_file(checkpoint_));
  const FeatureMatrix matrix = compute_features(synthetic_bars(1'000, 1));
  for (std::size_t row = 0; row < matrix.rows(); row += 37) {
    const auto features = matrix.row(row);
    const std::vector<double> expected = values_of(reader, features);
    const std::vector<double> found = graph.run({features.begin(), features.end()});
    ASSERT_EQ(found.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) ASSERT_NEAR(found[i], expected[i], 1e-4) << row;
  }
  const std::string contents = read_file(onnx_);
  EXPECT_NE(contents.find(word_after(trained.output, "weights hash ")), std::string::npos);
  EXPECT_NE(contents.find("o_c1,h_c1,l_c1,"), std::string::npos);
  const ChildResult evaluated = run_trainer({"--data", "synthetic:1000:1", "--eval", "--resume",
                                             checkpoint_, "--onnx", folder_.path("again.onnx")});
  ASSERT_TRUE(evaluated.succeeded()) << evaluated.summary();
  EXPECT_EQ(read_file(folder_.path("again.onnx")), contents);
}

TEST_F(ProgramFiles, ReportShowsTheRun) {
  const ChildResult trained = train("3", {"--report", report_});
  const std::string page = read_file(report_);
  for (const char* part :
       {"Gain on the validation bars", "buy and hold", "Mean loss", "--gamma", "synthetic:1000:1",
        "<path class=\"curve agent\" d=\"M", "<path class=\"curve market\" d=\"M",
        "<path class=\"curve loss\" d=\"M", "<path class=\"curve value\" d=\"M"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_NE(page.find(word_after(trained.output, "weights hash ")), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

TEST_F(ProgramFiles, StatisticsNameTheFeatures) {
  train("1", {});
  const auto features = nlohmann::json::parse(read_file(stats_))["data"]["features"];
  ASSERT_EQ(features.size(), kFeatureDim);
  for (std::size_t i = 0; i < kFeatureDim; ++i) EXPECT_EQ(features[i], kFeatureNames[i]);
}

TEST_F(ProgramFiles, OutputsThatCannotBeWrittenAreRefused) {
  const auto refused = [&](const Options& options, const std::string& text) {
    const ChildResult result = run_trainer(small_run("1") + options);
    EXPECT_EQ(result.exit_status, 2) << result.summary();
    EXPECT_NE(result.error_output.find(text), std::string::npos) << result.summary();
    EXPECT_EQ(folder_.file_count(), 1U) << "nothing half-written";
  };
  write_file(folder_.path("file"), "x");
  refused({"--onnx", folder_.path("missing/a")}, "missing/a: cannot create");
  refused({"--report", folder_.path("missing/a")}, "missing/a: cannot create");
  refused({"--tensorboard", folder_.path("file")}, "expected a folder, found a file");
  refused({"--onnx", folder_.path("a"), "--report", folder_.path("a")},
          "option --onnx: expected another file than --report");
}
}  // namespace
}  // namespace drey::test
