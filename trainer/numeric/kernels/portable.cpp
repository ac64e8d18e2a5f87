// portable.cpp: the kernels in plain C++, for any processor; and the choice among all of them.
// The product is product.hpp's: vectors of the size that the compiler's default machine has.
// Read next: kernels.hpp, product.cpp.
// SPDX-License-Identifier: MIT
#include <drey/base/assert.hpp>

#include "trainer/numeric/kernels/adam_loops.hpp"
#include "trainer/numeric/kernels/kernels.hpp"
#include "trainer/numeric/product.hpp"

namespace drey::trainer {
namespace {
struct Portable {};

void finish(const Product<float, float>& in) {
  for (std::size_t row = 0; row < in.rows; ++row) {
    for (std::size_t panel = 0; panel < in.panels; ++panel) {
      const std::size_t place = row * in.out_row + panel * in.out_panel;
      for (std::size_t lane = 0; lane < kPanelLanes; ++lane) {
        float value = in.out[place + lane];
        if (in.start != nullptr) value += in.start[panel * kPanelLanes + lane];
        if (in.is_rectified && value < 0.0f) value = 0.0f;
        if (in.mask != nullptr && !(in.mask[place + lane] > 0.0f)) value = 0.0f;
        in.out[place + lane] = value;
      }
    }
  }
}

void multiply_panels(const Product<float, float>& in) {
  for (std::size_t panel = 0; panel < in.panels; ++panel) {
    multiply<float>(kPanelLanes, in.rows, in.depth, in.right + panel * in.right_panel,
                    in.right_step, {in.left, in.left_step, in.left_row},
                    in.out + panel * in.out_panel, in.out_row);
  }
  finish(in);
}
}  // namespace

extern const Kernels portable_kernels = {Isa::kPortable,
                                         multiply_panels,
                                         loops::square_sum<Portable>,
                                         loops::adam<Portable>,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr};
}  // namespace drey::trainer
