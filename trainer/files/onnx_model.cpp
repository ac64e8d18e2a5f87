// onnx_model.cpp: see onnx_model.hpp. The numbers of fields are those of onnx.proto3.
// SPDX-License-Identifier: MIT
#include "trainer/files/onnx_model.hpp"

#include <bit>
#include <span>
#include <string_view>

#include <drey/base/assert.hpp>
#include <drey/base/version.hpp>

#include "trainer/files/protobuf_writer.hpp"

namespace drey::trainer {
namespace {
constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOpset = 13;
constexpr std::int64_t kFloat = 1;  // TensorProto.DataType
static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

using Names = std::vector<std::string>;
using Extents = std::vector<std::size_t>;

ProtobufWriter tensor(const std::string& name, const Extents& shape, std::span<const float> data) {
  ProtobufWriter message;
  for (const std::size_t extent : shape) message.add_integer(1, static_cast<std::int64_t>(extent));
  message.add_integer(2, kFloat);
  message.add_text(8, name);
  message.add_text(9, {reinterpret_cast<const char*>(data.data()), data.size_bytes()});
  return message;
}

/// A matrix of floats, any number of rows.
ProtobufWriter value_info(const std::string& name, std::size_t columns) {
  ProtobufWriter rows;
  rows.add_text(2, "batch");
  ProtobufWriter width;
  width.add_integer(1, static_cast<std::int64_t>(columns));
  ProtobufWriter shape;
  shape.add_message(1, rows);
  shape.add_message(1, width);
  ProtobufWriter tensor_type;
  tensor_type.add_integer(1, kFloat);
  tensor_type.add_message(2, shape);
  ProtobufWriter type;
  type.add_message(1, tensor_type);
  ProtobufWriter message;
  message.add_text(1, name);
  message.add_message(2, type);
  return message;
}

ProtobufWriter integer_attribute(const std::string& name, std::int64_t value) {
  ProtobufWriter message;
  message.add_text(1, name);
  message.add_integer(3, value);
  message.add_integer(20, 2);  // INT
  return message;
}

ProtobufWriter integers_attribute(const std::string& name, std::int64_t value) {
  ProtobufWriter message;
  message.add_text(1, name);
  message.add_integer(8, value);
  message.add_integer(20, 7);  // INTS
  return message;
}

/// Nodes in the order they run, and the constants they use.
class Graph {
 public:
  void add_node(const std::string& operation, const Names& inputs, const std::string& output,
                std::span<const ProtobufWriter> attributes = {}) {
    ProtobufWriter node;
    for (const std::string& input : inputs) node.add_text(1, input);
    node.add_text(2, output);
    node.add_text(3, output + "_" + operation);
    node.add_text(4, operation);
    for (const ProtobufWriter& attribute : attributes) node.add_message(5, attribute);
    nodes_.push_back(node);
  }
  void add_constant(const std::string& name, const Extents& shape, std::span<const float> data) {
    constants_.push_back(tensor(name, shape, data));
  }
  /// y = x W' + b.
  void add_layer(const std::string& name, const OnnxLayer& layer, const std::string& input,
                 const std::string& output) {
    DREY_ASSERT(layer.weights.size() == layer.inputs * layer.outputs);
    DREY_ASSERT(layer.bias.size() == layer.outputs);
    add_constant(name + ".weight", {layer.outputs, layer.inputs}, layer.weights);
    add_constant(name + ".bias", {layer.outputs}, layer.bias);
    const ProtobufWriter transposed = integer_attribute("transB", 1);
    add_node("Gemm", {input, name + ".weight", name + ".bias"}, output, {&transposed, 1});
  }

  [[nodiscard]] ProtobufWriter message(std::size_t features, std::size_t actions) const {
    ProtobufWriter graph;
    for (const ProtobufWriter& node : nodes_) graph.add_message(1, node);
    graph.add_text(2, "q_network");
    for (const ProtobufWriter& constant : constants_) graph.add_message(5, constant);
    graph.add_message(11, value_info("features", features));
    graph.add_message(12, value_info("q_values", actions));
    return graph;
  }

 private:
  std::vector<ProtobufWriter> nodes_;
  std::vector<ProtobufWriter> constants_;
};

/// Returns: the name of the normalised features.
std::string add_normalisation(Graph& graph, const OnnxModel& model) {
  DREY_ASSERT(model.median.size() == model.feature_names.size());
  DREY_ASSERT(model.scale.size() == model.feature_names.size());
  graph.add_constant("median", {model.median.size()}, model.median);
  graph.add_constant("scale", {model.scale.size()}, model.scale);
  const float low = -model.limit;
  graph.add_constant("clip_low", {}, {&low, 1});
  graph.add_constant("clip_high", {}, {&model.limit, 1});
  graph.add_node("Sub", {"features", "median"}, "centred");
  graph.add_node("Div", {"centred", "scale"}, "scaled");
  graph.add_node("Clip", {"scaled", "clip_low", "clip_high"}, "normalised");
  return "normalised";
}

/// The last layer, with the value beside it if there is one.
void add_head(Graph& graph, const OnnxModel& model, const std::string& input) {
  if (!model.value) {
    graph.add_layer("head", model.layers.back(), input, "q_values");
    return;
  }
  graph.add_layer("advantage", model.layers.back(), input, "advantages");
  graph.add_layer("value", *model.value, input, "state_value");
  const ProtobufWriter across = integers_attribute("axes", 1);
  graph.add_node("ReduceMean", {"advantages"}, "advantage_mean", {&across, 1});
  graph.add_node("Sub", {"advantages", "advantage_mean"}, "advantages_centred");
  graph.add_node("Add", {"advantages_centred", "state_value"}, "q_values");
}

void add_metadata(ProtobufWriter& file, const std::string& key, const std::string& value) {
  ProtobufWriter entry;
  entry.add_text(1, key);
  entry.add_text(2, value);
  file.add_message(14, entry);
}

std::string with_commas(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}
}  // namespace

std::string onnx_contents(const OnnxModel& model) {
  DREY_ASSERT(!model.layers.empty());
  Graph graph;
  std::string input = add_normalisation(graph, model);
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    const std::string number = std::to_string(i);
    graph.add_layer("layer" + number, model.layers[i], input, "sums" + number);
    graph.add_node("Relu", {"sums" + number}, "hidden" + number);
    input = "hidden" + number;
  }
  add_head(graph, model, input);
  ProtobufWriter opset;
  opset.add_text(1, "");
  opset.add_integer(2, kOpset);
  ProtobufWriter file;
  file.add_integer(1, kIrVersion);
  file.add_text(2, "drey-train");
  file.add_text(3, kVersionText);
  file.add_message(7, graph.message(model.feature_names.size(), model.layers.back().outputs));
  file.add_message(8, opset);
  add_metadata(file, "feature_names", with_commas(model.feature_names));
  add_metadata(file, "actions", with_commas(model.action_names));
  for (const auto& [key, value] : model.metadata) add_metadata(file, key, value);
  return file.bytes();
}
}  // namespace drey::trainer
