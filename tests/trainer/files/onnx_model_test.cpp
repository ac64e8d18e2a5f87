// onnx_model_test.cpp: the graph of an ONNX file, run by a small interpreter of its own, gives what the
// network gives; and so does onnxruntime, where it is installed.
// SPDX-License-Identifier: MIT
#include "trainer/files/onnx_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>

#include "support/child_process.hpp"
#include "trainer/dqn/temporary_folder.hpp"
#include "trainer/files/onnx_interpreter.hpp"
#include "trainer/files/output_file.hpp"

namespace drey::test {
namespace {
using namespace drey::trainer;
constexpr std::uint64_t kSeed = 51;
constexpr std::size_t kFeatures = 225;
constexpr std::size_t kActions = 3;

OnnxLayer random_layer(std::size_t inputs, std::size_t outputs, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0.0F, 1.0F / std::sqrt(static_cast<float>(inputs)));
  OnnxLayer layer{inputs, outputs, std::vector<float>(inputs * outputs),
                  std::vector<float>(outputs)};
  for (float& weight : layer.weights) weight = normal(random);
  for (float& bias : layer.bias) bias = normal(random);
  return layer;
}

OnnxModel random_model(bool is_dueling) {
  std::cout << "seed " << kSeed << "\n";
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<float> positive(0.1F, 3.0F);
  OnnxModel model;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    model.feature_names.push_back("feature_" + std::to_string(i));
    model.median.push_back(positive(random) - 1.5F);
    model.scale.push_back(positive(random));
  }
  model.action_names = {"sell", "hold", "buy"};
  model.layers = {random_layer(kFeatures, 128, random), random_layer(128, 64, random),
                  random_layer(64, kActions, random)};
  if (is_dueling) model.value = random_layer(64, 1, random);
  return model;
}

/// Some far outside of the limits.
std::vector<float> random_rows(std::size_t count) {
  std::mt19937_64 random(kSeed + 1);
  std::cauchy_distribution<float> wild(0.0F, 2.0F);
  std::vector<float> rows(count * kFeatures);
  for (float& value : rows) value = wild(random);
  return rows;
}

std::vector<double> through(const OnnxLayer& layer, const std::vector<double>& input) {
  std::vector<double> output(layer.outputs);
  for (std::size_t to = 0; to < layer.outputs; ++to) {
    double sum = layer.bias[to];
    for (std::size_t from = 0; from < layer.inputs; ++from)
      sum += static_cast<double>(layer.weights[to * layer.inputs + from]) * input[from];
    output[to] = sum;
  }
  return output;
}

/// The network as it is meant.
std::vector<double> values_of(const OnnxModel& model, const float* row) {
  std::vector<double> x(kFeatures);
  for (std::size_t i = 0; i < kFeatures; ++i)
    x[i] = std::clamp((row[i] - model.median[i]) / model.scale[i], -model.limit, model.limit);
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    x = through(model.layers[i], x);
    for (double& value : x) value = std::max(value, 0.0);
  }
  std::vector<double> q = through(model.layers.back(), x);
  if (!model.value) return q;
  const double value = through(*model.value, x)[0];
  const double mean = (q[0] + q[1] + q[2]) / 3.0;
  for (double& action : q) action += value - mean;
  return q;
}

std::size_t best_of(const double* q) {
  return static_cast<std::size_t>(std::max_element(q, q + kActions) - q);
}

TEST(OnnxModel, GraphGivesWhatTheNetworkGives) {
  for (const bool is_dueling : {false, true}) {
    const OnnxModel model = random_model(is_dueling);
    const OnnxGraph graph(onnx_contents(model));
    const std::vector<float> rows = random_rows(50);
    for (std::size_t row = 0; row < 50; ++row) {
      const float* const features = &rows[row * kFeatures];
      const std::vector<double> expected = values_of(model, features);
      const std::vector<double> found = graph.run({features, features + kFeatures});
      ASSERT_EQ(found.size(), kActions);
      for (std::size_t i = 0; i < kActions; ++i)
        ASSERT_NEAR(found[i], expected[i], 1e-5) << "row " << row << " action " << i;
    }
  }
}

TEST(OnnxModel, SaysWhatItIsFor) {
  OnnxModel model = random_model(false);
  model.metadata = {{"weights_hash", "0123456789abcdef"}};
  const std::string contents = onnx_contents(model);
  const ProtobufMessage file(contents);
  EXPECT_EQ(file.one(1).value, 7U) << "IR version";
  EXPECT_EQ(file.message(8).one(2).value, 13U) << "operators";
  std::map<std::string, std::string> metadata;
  for (const ProtobufField& field : file.all(14)) {
    const ProtobufMessage entry(field.bytes);
    metadata[entry.text(1)] = entry.text(2);
  }
  EXPECT_EQ(metadata["actions"], "sell,hold,buy");
  EXPECT_EQ(metadata["weights_hash"], "0123456789abcdef");
  EXPECT_EQ(metadata["feature_names"].rfind("feature_0,feature_1,", 0), 0U);
  EXPECT_EQ(std::count(metadata["feature_names"].begin(), metadata["feature_names"].end(), ','),
            kFeatures - 1);
  const ProtobufMessage graph = file.message(7);
  EXPECT_EQ(graph.message(11).text(1), "features");
  EXPECT_EQ(graph.message(12).text(1), "q_values");
}

TEST(OnnxModel, EqualModelsGiveEqualBytes) {
  EXPECT_EQ(onnx_contents(random_model(true)), onnx_contents(random_model(true)));
}

TEST(OnnxModel, RuntimeChoosesTheSameActionsOnAThousandRows) {
  const std::string modules = DREY_ONNXRUNTIME_MODULES;
  const std::string node = DREY_NODE;
  if (node.empty() || !std::filesystem::exists(modules + "/onnxruntime-node"))
    GTEST_SKIP() << "onnxruntime-node is not there (scripts/get-onnxruntime brings it)";
  constexpr std::size_t kRows = 1'000;
  for (const bool is_dueling : {false, true}) {
    const TemporaryFolder folder;
    const OnnxModel model = random_model(is_dueling);
    const std::vector<float> rows = random_rows(kRows);
    write_file(folder.path("model.onnx"), onnx_contents(model));
    write_file(folder.path("rows"),
               {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float)});
    const ChildResult ran =
        run_program({node, DREY_RUN_ONNX_SCRIPT, modules, folder.path("model.onnx"),
                     folder.path("rows"), folder.path("values")},
                    {}, 120);
    ASSERT_TRUE(ran.succeeded()) << ran.summary();
    const std::string bytes = read_file(folder.path("values"));
    ASSERT_EQ(bytes.size(), kRows * kActions * sizeof(float));
    std::vector<float> values(kRows * kActions);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::vector<double> expected = values_of(model, &rows[row * kFeatures]);
      const std::vector<double> found(&values[row * kActions], &values[(row + 1) * kActions]);
      ASSERT_EQ(best_of(found.data()), best_of(expected.data())) << "row " << row;
      for (std::size_t i = 0; i < kActions; ++i) ASSERT_NEAR(found[i], expected[i], 1e-4) << row;
    }
  }
}
}  // namespace
}  // namespace drey::test
