// no_cub_shape.cpp: there was no CUDA toolkit when this was built.
// SPDX-License-Identifier: MIT
#include "cuda/shapes.hpp"

namespace drey::bench {
std::unique_ptr<AllocatorShape> make_cub_shape() {
  return nullptr;
}
}  // namespace drey::bench
