// close_means.hpp: simple means of the last 5, 10, 20, 50, 100 and 200 closes.
// Method: as in moment_bank.hpp: sums of parts that ended earlier, nothing ever subtracted.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include "trainer/features/ring.hpp"

namespace drey::trainer {
class CloseMeans {
 public:
  static constexpr std::array<std::size_t, 6> kSpans = {5, 10, 20, 50, 100, 200};

  void push(double close) {
    closes_.push(close);
    sum_5_.push(((closes_.ago(0) + closes_.ago(1)) + (closes_.ago(2) + closes_.ago(3))) +
                closes_.ago(4));
    sum_10_.push(sum_5_.newest() + sum_5_.ago(5));
    sum_20_.push(sum_10_.newest() + sum_10_.ago(10));
    sum_50_.push((sum_20_.newest() + sum_20_.ago(20)) + sum_10_.ago(40));
    sum_100_.push(sum_50_.newest() + sum_50_.ago(50));
    sum_200_ = sum_100_.newest() + sum_100_.ago(100);
  }

  /// In the order of kSpans.
  [[nodiscard]] std::array<double, 6> means() const {
    return {sum_5_.newest() / 5.0,   sum_10_.newest() / 10.0,   sum_20_.newest() / 20.0,
            sum_50_.newest() / 50.0, sum_100_.newest() / 100.0, sum_200_ / 200.0};
  }

 private:
  Ring<double, 8> closes_;
  Ring<double, 8> sum_5_;
  Ring<double, 64> sum_10_;
  Ring<double, 32> sum_20_;
  Ring<double, 64> sum_50_;
  Ring<double, 128> sum_100_;
  double sum_200_ = 0.0;
};
}  // namespace drey::trainer
