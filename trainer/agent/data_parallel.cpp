// data_parallel.cpp: see data_parallel.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/agent/data_parallel.hpp"

#include <algorithm>

#include <drey/base/assert.hpp>

namespace drey::trainer {
void DataParallel::average(std::span<float> gradient, LossReport& report) {
  DREY_ASSERT(gradient.size() + kReportValues == values_.size());
  std::copy(gradient.begin(), gradient.end(), values_.data());
  values_[gradient.size()] = static_cast<float>(report.loss);
  values_[gradient.size() + 1] = static_cast<float>(report.value);
  reduction_->average(values_.span());
  std::copy_n(values_.data(), gradient.size(), gradient.begin());
  report.loss = static_cast<double>(values_[gradient.size()]);
  report.value = static_cast<double>(values_[gradient.size() + 1]);
}
}  // namespace drey::trainer
