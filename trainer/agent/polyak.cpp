// polyak.cpp: see polyak.hpp.
// Where the machine has fused multiply-adds, the compiler makes one of the sum in each form: of the rest
// and the target, onto the rounded product of the part. A test compares them with Adam's.
// SPDX-License-Identifier: MIT
#include "trainer/agent/polyak.hpp"

#include <cstddef>
#include <functional>
#include <vector>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
[[maybe_unused]] bool is_apart(std::span<const float> one, std::span<const float> other) {
  const std::less_equal<const float*> not_behind;
  return not_behind(one.data() + one.size(), other.data()) ||
         not_behind(other.data() + other.size(), one.data());
}
}  // namespace

void polyak_in_place(std::span<const float> network, std::span<float> target, float part) {
  DREY_ASSERT(network.size() == target.size() && is_apart(network, target));
  const float rest = 1.0f - part;
  const float* const __restrict from = network.data();
  float* const __restrict to = target.data();
  for (std::size_t index = 0; index < target.size(); ++index) {
    to[index] = rest * to[index] + part * from[index];
  }
}

void polyak_with_temporaries(std::span<const float> network, std::span<float> target, float part) {
  DREY_ASSERT(network.size() == target.size() && is_apart(network, target));
  const float rest = 1.0f - part;
  std::vector<float> moved(network.begin(), network.end());
  for (float& value : moved) value *= part;
  std::vector<float> kept(target.begin(), target.end());
  std::vector<float> sum(target.size());
  for (std::size_t index = 0; index < sum.size(); ++index) {
    sum[index] = rest * kept[index] + moved[index];
  }
  for (std::size_t index = 0; index < sum.size(); ++index) target[index] = sum[index];
}
}  // namespace drey::trainer
