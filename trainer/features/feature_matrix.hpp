// feature_matrix.hpp: one row of 225 floats per bar, each row on its own cache lines.
// Invariants: row i belongs to bars[first_bar + i] and depends on bars up to that one only; the
// 15 tail lanes of a row are zero, so kernels may read whole rows of kFeatureStride floats.
// Read next: feature_names.hpp, features.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace drey::trainer {
inline constexpr std::size_t kFeatureDim = 225;     ///< features of a row
inline constexpr std::size_t kFeatureStride = 240;  ///< floats from one row to the next: 960 bytes
static_assert(kFeatureStride >= kFeatureDim && kFeatureStride * sizeof(float) % 64 == 0);

/// Shape: (rows, 225) row-major, stride 240, 64-byte aligned. Movable, not copyable.
class FeatureMatrix {
 public:
  FeatureMatrix() = default;
  /// All zero. Cost: one allocation of rows * 960 bytes.
  FeatureMatrix(std::size_t rows, std::size_t first_bar)
      : rows_(rows), first_bar_(first_bar), values_(new_zeroed(rows * kFeatureStride)) {}

  /// For rows that are all written, each by whole_row(), before any is read: nothing is set yet, so
  /// that memory is touched once. A large matrix asks for huge pages, where the system gives them.
  [[nodiscard]] static FeatureMatrix to_be_written(std::size_t rows, std::size_t first_bar);

  /// The row with its tail lanes. Who writes it leaves 0 in those.
  [[nodiscard]] std::span<float, kFeatureStride> whole_row(std::size_t index) {
    return std::span<float, kFeatureStride>(values_.get() + index * kFeatureStride, kFeatureStride);
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t first_bar() const { return first_bar_; }
  [[nodiscard]] std::span<float, kFeatureDim> row(std::size_t index) {
    return std::span<float, kFeatureDim>(values_.get() + index * kFeatureStride, kFeatureDim);
  }
  [[nodiscard]] std::span<const float, kFeatureDim> row(std::size_t index) const {
    return std::span<const float, kFeatureDim>(values_.get() + index * kFeatureStride, kFeatureDim);
  }
  /// First element of row 0; null for an empty matrix.
  [[nodiscard]] const float* data() const { return values_.get(); }
  [[nodiscard]] std::size_t bytes() const { return rows_ * kFeatureStride * sizeof(float); }

 private:
  static constexpr std::align_val_t kRowAlignment{64};

  struct AlignedDelete {
    AlignedDelete() : alignment(kRowAlignment) {}
    explicit AlignedDelete(std::align_val_t of_block) : alignment(of_block) {}
    void operator()(float* pointer) const { ::operator delete[](pointer, alignment); }

    std::align_val_t alignment;
  };
  static float* new_zeroed(std::size_t count) { return new (kRowAlignment) float[count](); }

  std::size_t rows_ = 0;
  std::size_t first_bar_ = 0;
  std::unique_ptr<float[], AlignedDelete> values_;
};
}  // namespace drey::trainer
