// feature_matrix.cpp: see feature_matrix.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/features/feature_matrix.hpp"

#include <sys/mman.h>

namespace drey::trainer {
FeatureMatrix FeatureMatrix::to_be_written(std::size_t rows, std::size_t first_bar) {
  constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  const std::size_t bytes = rows * kFeatureStride * sizeof(float);
  const bool is_large = bytes >= 2 * kHugePageBytes;
  const std::align_val_t alignment = is_large ? std::align_val_t{kHugePageBytes} : kRowAlignment;
  FeatureMatrix matrix;
  matrix.rows_ = rows;
  matrix.first_bar_ = first_bar;
  matrix.values_ = std::unique_ptr<float[], AlignedDelete>(
      new (alignment) float[rows * kFeatureStride], AlignedDelete(alignment));
  // A row is a quarter of a page: without this, faulting pages in costs more than the features. Whole
  // huge pages only, and a refusal changes nothing but the time.
  if (is_large)
    ::madvise(matrix.values_.get(), bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
  return matrix;
}
}  // namespace drey::trainer
