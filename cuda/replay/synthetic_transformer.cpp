// synthetic_transformer.cpp: what training a GPT-like network asks of an allocator: weights and moments
// that stay, activations that live from forward to backward, short-lived results between, gradients
// from backward to the optimizer.
// Units: bytes; two a number but for scores' sums and the moments, which have four.
// SPDX-License-Identifier: MIT
#include "replay/synthetic.hpp"

namespace drey::cuda::replay {
TransformerScript::TransformerScript(Script& script, const Transformer& shape)
    : script_(script), shape_(shape) {
  const std::uint64_t width = shape.width;
  weights_bytes_.push_back(shape.words * width * 2);
  for (std::uint64_t layer = 0; layer < shape.layers; ++layer) {
    for (const std::uint64_t numbers : {width, 3 * width * width, 3 * width, width * width, width,
                                        4 * width * width, 4 * width, 4 * width * width, width})
      weights_bytes_.push_back(numbers * 2);
  }
  for (const std::uint64_t bytes : weights_bytes_) script_.allocate(bytes);
  gradients_.resize(weights_bytes_.size(), 0);
}

TransformerScript::Saved TransformerScript::forward(std::uint64_t length) {
  const std::uint64_t rows = shape_.batch * length;
  const std::uint64_t plane = rows * shape_.width * 2;
  const std::uint64_t scores = shape_.batch * shape_.heads * length * length * 2;
  Saved saved = {};
  saved.blocks[0] = script_.allocate(plane);      // normed
  saved.blocks[1] = script_.allocate(rows * 8);   // means and deviations
  saved.blocks[2] = script_.allocate(3 * plane);  // queries, keys, values
  const std::uint64_t raw_scores = script_.allocate(scores);
  saved.blocks[3] = script_.allocate(scores);  // after the softmax
  script_.free(raw_scores);
  saved.blocks[4] = script_.allocate(plane);  // mixed
  const std::uint64_t projected = script_.allocate(plane);
  saved.blocks[5] = script_.allocate(plane);  // residual
  script_.free(projected);
  saved.blocks[6] = script_.allocate(4 * plane);  // wide
  saved.blocks[7] = script_.allocate(4 * plane);  // after the gate
  const std::uint64_t narrow = script_.allocate(plane);
  script_.free(narrow);
  return saved;
}

void TransformerScript::backward(const Saved& saved, std::uint64_t length, std::uint64_t layer) {
  const std::uint64_t rows = shape_.batch * length;
  const std::uint64_t plane = rows * shape_.width * 2;
  const std::uint64_t scores = shape_.batch * shape_.heads * length * length * 2;
  const std::size_t first = 1 + layer * 9;
  const auto gradient = [&](std::size_t weight) {
    gradients_[first + weight] = script_.allocate(weights_bytes_[first + weight]);
  };
  const std::uint64_t wide = script_.allocate(4 * plane);
  gradient(7);
  gradient(8);
  script_.free(saved.blocks[7]);
  const std::uint64_t gated = script_.allocate(4 * plane);
  script_.free(wide);
  script_.free(saved.blocks[6]);
  const std::uint64_t plain = script_.allocate(plane);
  gradient(5);
  gradient(6);
  script_.free(gated);
  script_.free(saved.blocks[5]);
  const std::uint64_t mixed = script_.allocate(plane);
  gradient(3);
  gradient(4);
  script_.free(plain);
  script_.free(saved.blocks[4]);
  const std::uint64_t soft = script_.allocate(scores);
  const std::uint64_t raw = script_.allocate(scores);
  script_.free(soft);
  script_.free(saved.blocks[3]);
  const std::uint64_t three = script_.allocate(3 * plane);
  script_.free(raw);
  script_.free(mixed);
  gradient(1);
  gradient(2);
  script_.free(saved.blocks[2]);
  gradient(0);
  script_.free(three);
  script_.free(saved.blocks[1]);
  script_.free(saved.blocks[0]);
}

void TransformerScript::optimize() {
  for (std::size_t weight = 0; weight < gradients_.size(); ++weight) {
    if (!has_moments_) {
      script_.allocate(weights_bytes_[weight] * 2);
      script_.allocate(weights_bytes_[weight] * 2);
    }
    const std::uint64_t single = script_.allocate(weights_bytes_[weight] * 2);
    const std::uint64_t update = script_.allocate(weights_bytes_[weight] * 2);
    script_.free(single);
    script_.free(update);
    script_.free(gradients_[weight]);
  }
  has_moments_ = true;
}

void TransformerScript::step(std::uint64_t length) {
  const std::uint64_t rows = shape_.batch * length;
  const std::uint64_t words = script_.allocate(rows * 8);
  const std::uint64_t embedded = script_.allocate(rows * shape_.width * 2);
  std::vector<Saved> saved;
  for (std::uint64_t layer = 0; layer < shape_.layers; ++layer) saved.push_back(forward(length));
  const std::uint64_t logits = script_.allocate(rows * shape_.words * 2);
  const std::uint64_t loss = script_.allocate(512);
  const std::uint64_t logits_gradient = script_.allocate(rows * shape_.words * 2);
  script_.free(logits);
  gradients_[0] = script_.allocate(weights_bytes_[0]);
  script_.free(logits_gradient);
  for (std::uint64_t layer = shape_.layers; layer-- > 0;) backward(saved[layer], length, layer);
  script_.free(embedded);
  script_.free(words);
  optimize();
  script_.free(loss);
}

trace::DeviceTrace make_transformer_fixed(std::uint64_t /*seed*/) {
  Script script;
  TransformerScript network(script, {});
  constexpr int kSteps = 6;
  for (int step = 0; step < kSteps; ++step) network.step(1024);
  return script.finish();
}

trace::DeviceTrace make_transformer_variable(std::uint64_t seed) {
  Script script;
  TransformerScript network(script, {});
  Random random(seed);
  constexpr int kSteps = 12;
  for (int step = 0; step < kSteps; ++step) network.step(128 + 8 * random.below(113));
  return script.finish();
}
}  // namespace drey::cuda::replay
