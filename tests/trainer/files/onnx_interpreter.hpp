// onnx_interpreter.hpp: runs the graph of an ONNX file on one row, in double, for the tests: only the
// operators that drey writes, each by the definition in Operators.md. Throws on all else.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/files/protobuf_reader.hpp"

namespace drey::test {
class OnnxGraph {
 public:
  using Values = std::vector<double>;

  explicit OnnxGraph(const std::string& contents) {
    const ProtobufMessage graph = ProtobufMessage(contents).message(7);
    for (const ProtobufField& field : graph.all(5)) add_constant(ProtobufMessage(field.bytes));
    for (const ProtobufField& field : graph.all(1)) add_node(ProtobufMessage(field.bytes));
  }

  /// From "features" to "q_values".
  [[nodiscard]] Values run(const std::vector<float>& features) const {
    std::map<std::string, Values> known = constants_;
    known["features"] = Values(features.begin(), features.end());
    for (const Node& node : nodes_) {
      std::vector<Values> inputs;
      for (const std::string& name : node.inputs) inputs.push_back(known.at(name));
      known[node.output] = apply(node.operation, inputs);
    }
    return known.at("q_values");
  }

 private:
  struct Node {
    std::string operation;
    std::vector<std::string> inputs;
    std::string output;
  };

  void add_constant(const ProtobufMessage& tensor) {
    std::size_t count = 1;
    for (const ProtobufField& extent : tensor.all(1)) count *= extent.value;
    const std::string raw = tensor.text(9);
    if (tensor.one(2).value != 1 || raw.size() != count * sizeof(float))
      throw std::runtime_error("a tensor that is not its shape of floats");
    std::vector<float> floats(count);
    std::memcpy(floats.data(), raw.data(), raw.size());
    constants_[tensor.text(8)] = Values(floats.begin(), floats.end());
  }
  void add_node(const ProtobufMessage& message) {
    Node node{message.text(4), {}, message.text(2)};
    for (const ProtobufField& input : message.all(1)) node.inputs.emplace_back(input.bytes);
    for (const ProtobufField& field : message.all(5)) {
      const ProtobufMessage attribute(field.bytes);
      const bool is_transposed = attribute.text(1) == "transB" && attribute.one(3).value == 1;
      const bool is_across = attribute.text(1) == "axes" && attribute.one(8).value == 1;
      if (!is_transposed && !is_across) throw std::runtime_error("an attribute of no meaning");
    }
    nodes_.push_back(node);
  }

  template <class Function>
  static Values each(const Values& a, const Values& b, Function function) {
    Values result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      result[i] = function(a[i], b.size() == 1 ? b[0] : b.at(i));
    return result;
  }
  static Values gemm(const Values& x, const Values& weights, const Values& bias) {
    Values result = bias;
    if (weights.size() != x.size() * bias.size()) throw std::runtime_error("shapes do not fit");
    for (std::size_t to = 0; to < bias.size(); ++to) {
      for (std::size_t from = 0; from < x.size(); ++from)
        result[to] += weights[to * x.size() + from] * x[from];
    }
    return result;
  }
  static Values apply(const std::string& operation, const std::vector<Values>& in) {
    const Values& x = in.at(0);
    if (operation == "Gemm") return gemm(x, in.at(1), in.at(2));
    if (operation == "Relu")
      return each(x, {0.0}, [](double a, double b) { return std::max(a, b); });
    if (operation == "Sub") return each(x, in.at(1), [](double a, double b) { return a - b; });
    if (operation == "Add") return each(x, in.at(1), [](double a, double b) { return a + b; });
    if (operation == "Div") return each(x, in.at(1), [](double a, double b) { return a / b; });
    if (operation == "Clip") {
      const Values low = each(x, in.at(1), [](double a, double b) { return std::max(a, b); });
      return each(low, in.at(2), [](double a, double b) { return std::min(a, b); });
    }
    if (operation != "ReduceMean") throw std::runtime_error("no operator " + operation);
    double sum = 0.0;
    for (const double value : x) sum += value;
    return {sum / static_cast<double>(x.size())};
  }

  std::map<std::string, Values> constants_;
  std::vector<Node> nodes_;
};
}  // namespace drey::test
