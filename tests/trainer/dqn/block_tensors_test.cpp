// block_tensors_test.cpp: a network's values as named arrays, and back.
// SPDX-License-Identifier: MIT
#include "trainer/program/block_tensors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "trainer/numeric/random.hpp"

namespace drey::trainer {
namespace {
/// Every parameter another number, padding zero.
AlignedArray<float> numbered_block(const NetworkShape& shape) {
  AlignedArray<float> block(shape.block_size());
  float next = 1;
  for (const LayerShape& layer : shape.layers()) {
    for (std::size_t output = 0; output < layer.outputs; ++output) {
      block[layer.bias_offset + output] = next++;
      for (std::size_t input = 0; input < layer.inputs; ++input) {
        block[layer.weight(output, input)] = next++;
      }
    }
  }
  return block;
}

TEST(BlockTensors, ReadBackWhatWasWrittenForEitherHead) {
  for (const Head head : {Head::kPlain, Head::kDueling}) {
    const NetworkShape shape(std::array<std::size_t, 3>{5, 20, 3}, head);
    const AlignedArray<float> block = numbered_block(shape);
    TensorWriter writer;
    add_block(writer, "network", shape, block);
    const TensorReader reader("some.file", writer.file_contents());
    AlignedArray<float> read(shape.block_size());
    read_block(reader, "network", shape, read);
    for (std::size_t place = 0; place < block.size(); ++place) EXPECT_EQ(read[place], block[place]);
    EXPECT_EQ(block_hash(shape, read), block_hash(shape, block));
    read[shape.layers().back().weight(0, 0)] += 1;
    EXPECT_NE(block_hash(shape, read), block_hash(shape, block));
  }
}

TEST(BlockTensors, OfADuelingNetworkAreTwoPlainLinearLayersInTheEnd) {
  const NetworkShape shape(std::array<std::size_t, 3>{5, 20, 3}, Head::kDueling);
  const AlignedArray<float> block = numbered_block(shape);
  TensorWriter writer;
  add_block(writer, "network", shape, block);
  const TensorReader reader("some.file", writer.file_contents());
  EXPECT_EQ(reader.shape_of("network.0.weight"), (TensorShape{20, 5}));
  EXPECT_EQ(reader.shape_of("network.advantage.weight"), (TensorShape{3, 20}));
  EXPECT_EQ(reader.shape_of("network.advantage.bias"), (TensorShape{3}));
  EXPECT_EQ(reader.shape_of("network.value.bias"), (TensorShape{1}));
  std::array<float, 20> weights{};
  reader.read("network.value.weight", {1, 20}, std::span<float>(weights));
  for (std::size_t input = 0; input < 20; ++input) {
    EXPECT_EQ(weights.at(input), block[shape.layers().back().weight(3, input)]);
  }
}
}  // namespace
}  // namespace drey::trainer
