// network_test.cpp: forward and backward of the network against definitions.
// Method: every gradient against central differences in double, where they are good to 1e-8; float
// against double; the lanes of the padding must stay zero, or they would leak into products.
// SPDX-License-Identifier: MIT
#include "trainer/numeric/network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kInputStride = 16;

/// A network with odd widths, random values and a batch, in either precision.
template <class Scalar>
struct Case {
  explicit Case(std::size_t batch_size, Head head = Head::kPlain)
      : batch(batch_size),
        shape(std::array<std::size_t, 4>{5, 20, 7, 3}, head),
        block(shape.block_size()),
        gradient(shape.block_size()),
        inputs(kInputStride * batch_size),
        activations(shape, batch_size),
        deltas(shape, batch_size) {
    Random random(7, RandomPurpose::kTest);
    for (const LayerShape& layer : shape.layers()) {
      for (std::size_t output = 0; output < layer.outputs; ++output) {
        block[layer.bias_offset + output] = static_cast<Scalar>(random.between(-1, 1));
        for (std::size_t input = 0; input < layer.inputs; ++input) {
          block[layer.weight(output, input)] = static_cast<Scalar>(random.between(-1, 1));
        }
      }
    }
    for (std::size_t column = 0; column < batch; ++column) {
      for (std::size_t row = 0; row < 5; ++row) {
        inputs[column * kInputStride + row] = static_cast<Scalar>(random.between(-2, 2));
      }
    }
  }

  Columns<const Scalar> input_columns() const { return {inputs.data(), kInputStride}; }

  /// Sum of (column + 1) * (row - 0.5) * output(row, column).
  Scalar loss() {
    forward(shape, block.data(), input_columns(), batch, activations);
    Scalar sum = 0;
    for (std::size_t column = 0; column < batch; ++column) {
      for (std::size_t row = 0; row < 3; ++row) sum += slope(row, column) * output(row, column);
    }
    return sum;
  }

  void set_output_deltas() {
    for (std::size_t column = 0; column < batch; ++column) {
      for (std::size_t row = 0; row < 3; ++row) {
        const Columns<Scalar> columns = deltas.outputs();
        columns.values[column * columns.stride + row] = slope(row, column);
      }
    }
  }

  Scalar output(std::size_t row, std::size_t column) {
    return activations.outputs().values[column * activations.outputs().stride + row];
  }
  static Scalar slope(std::size_t row, std::size_t column) {
    return static_cast<Scalar>(column + 1) * (static_cast<Scalar>(row) - Scalar{0.5});
  }

  /// Places of the block that hold a parameter; the others are padding.
  std::vector<bool> is_parameter() const {
    std::vector<bool> places(shape.block_size(), false);
    for (const LayerShape& layer : shape.layers()) {
      for (std::size_t output = 0; output < layer.outputs; ++output) {
        places[layer.bias_offset + output] = true;
        for (std::size_t input = 0; input < layer.inputs; ++input) {
          places[layer.weight(output, input)] = true;
        }
      }
    }
    return places;
  }

  std::size_t batch;
  NetworkShape shape;
  AlignedArray<Scalar> block;
  AlignedArray<Scalar> gradient;
  AlignedArray<Scalar> inputs;
  Activations<Scalar> activations;
  Activations<Scalar> deltas;
};

TEST(Network, CountsParametersWithoutPadding) {
  const NetworkShape shape(std::array<std::size_t, 4>{225, 128, 64, 3});
  EXPECT_EQ(shape.parameter_count(), 37379U);
  EXPECT_EQ(shape.block_size() % kLaneCount, 0U);
  for (const LayerShape& layer : shape.layers()) {
    EXPECT_EQ(layer.weights_offset % kLaneCount, 0U);
    EXPECT_EQ(layer.bias_offset % kLaneCount, 0U);
  }
}

TEST(Network, ForwardIsWhatTheDefinitionSays) {
  Case<double> net(3);
  forward(net.shape, net.block.data(), net.input_columns(), net.batch, net.activations);
  for (std::size_t column = 0; column < net.batch; ++column) {
    std::vector<double> values(net.inputs.data() + column * kInputStride,
                               net.inputs.data() + column * kInputStride + 5);
    for (const LayerShape& layer : net.shape.layers()) {
      std::vector<double> next;
      for (std::size_t output = 0; output < layer.outputs; ++output) {
        double sum = net.block[layer.bias_offset + output];
        for (std::size_t input = 0; input < layer.inputs; ++input) {
          sum += net.block[layer.weight(output, input)] * values[input];
        }
        next.push_back(&layer == &net.shape.layers().back() ? sum : std::fmax(sum, 0.0));
      }
      values = next;
    }
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_NEAR(net.output(row, column), values[row], 1e-12);
    }
  }
}

void expect_gradients_of_differences(Head head) {
  Case<double> net(6, head);
  net.loss();
  net.set_output_deltas();
  backward(net.shape, net.block.data(), net.input_columns(), net.batch, net.activations, net.deltas,
           net.gradient.data());
  constexpr double kStep = 1e-6;
  const std::vector<bool> is_parameter = net.is_parameter();
  for (std::size_t place = 0; place < net.block.size(); ++place) {
    if (!is_parameter[place]) continue;
    const double kept = net.block[place];
    net.block[place] = kept + kStep;
    const double above = net.loss();
    net.block[place] = kept - kStep;
    const double below = net.loss();
    net.block[place] = kept;
    EXPECT_NEAR(net.gradient[place], (above - below) / (2 * kStep), 1e-6) << "place " << place;
  }
}

TEST(Network, GradientsAgreeWithCentralDifferences) {
  expect_gradients_of_differences(Head::kPlain);
}

TEST(DuelingNetwork, GradientsAgreeWithCentralDifferences) {
  expect_gradients_of_differences(Head::kDueling);
}

TEST(DuelingNetwork, OutputsAreTheValuePlusAdvantagesLessTheirMean) {
  Case<double> net(4, Head::kDueling);
  EXPECT_EQ(net.shape.outputs(), 3U);
  EXPECT_EQ(net.shape.layers().back().outputs, 4U);
  // The same values as a plain network of four outputs give both streams.
  const NetworkShape plain(std::array<std::size_t, 4>{5, 20, 7, 4});
  ASSERT_EQ(plain.block_size(), net.shape.block_size());
  Activations<double> streams(plain, 4);
  forward(plain, net.block.data(), net.input_columns(), 4, streams);
  forward(net.shape, net.block.data(), net.input_columns(), 4, net.activations);
  for (std::size_t column = 0; column < 4; ++column) {
    const double* const raw = streams.outputs().values + column * streams.outputs().stride;
    const double mean = (raw[0] + raw[1] + raw[2]) / 3;
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_NEAR(net.output(row, column), raw[3] + raw[row] - mean, 1e-12);
      sum += net.output(row, column);
    }
    EXPECT_NEAR(sum / 3, raw[3], 1e-12);  // the value is the mean of the outputs
  }
}

TEST(Network, GradientOfFirstColumnsIgnoresTheOthers) {
  Case<double> all(6);
  all.loss();
  all.set_output_deltas();
  backward(all.shape, all.block.data(), all.input_columns(), 4, all.activations, all.deltas,
           all.gradient.data());
  Case<double> four(6);
  four.batch = 4;
  four.loss();
  four.set_output_deltas();
  backward(four.shape, four.block.data(), four.input_columns(), 4, four.activations, four.deltas,
           four.gradient.data());
  for (std::size_t place = 0; place < all.gradient.size(); ++place) {
    EXPECT_NEAR(all.gradient[place], four.gradient[place], 1e-12);
  }
}

TEST(Network, FloatAgreesWithDouble) {
  Case<float> single(8);
  Case<double> exact(8);
  single.loss();
  exact.loss();
  single.set_output_deltas();
  exact.set_output_deltas();
  backward(single.shape, single.block.data(), single.input_columns(), 8, single.activations,
           single.deltas, single.gradient.data());
  backward(exact.shape, exact.block.data(), exact.input_columns(), 8, exact.activations,
           exact.deltas, exact.gradient.data());
  for (std::size_t place = 0; place < exact.gradient.size(); ++place) {
    EXPECT_NEAR(static_cast<double>(single.gradient[place]), exact.gradient[place],
                1e-4 * (1 + std::fabs(exact.gradient[place])));
  }
}

TEST(Network, PaddingHasNoGradientAndNoActivation) {
  Case<float> net(5);
  net.loss();
  net.set_output_deltas();
  backward(net.shape, net.block.data(), net.input_columns(), net.batch, net.activations, net.deltas,
           net.gradient.data());
  const std::vector<bool> is_parameter = net.is_parameter();
  for (std::size_t place = 0; place < net.gradient.size(); ++place) {
    if (is_parameter[place]) continue;
    EXPECT_EQ(net.gradient[place], 0.0F);
  }
  for (std::size_t index = 0; index < net.shape.layers().size(); ++index) {
    const LayerShape& layer = net.shape.layers()[index];
    const Columns<float> columns = net.activations.of_layer(index);
    for (std::size_t row = layer.outputs; row < layer.outputs_padded; ++row) {
      EXPECT_EQ(columns.values[row], 0.0F);
    }
  }
}
}  // namespace
}  // namespace drey::trainer
