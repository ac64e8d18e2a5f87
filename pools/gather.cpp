// gather.cpp: what is refused, which copy is taken, and the scalar one.
// Read next: include/drey/pools/gather.hpp, gather_x86.cpp.
// SPDX-License-Identifier: MIT
#include <drey/base/assert.hpp>
#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>
#include <drey/pools/gather.hpp>

#include "gather_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drey {
namespace {
void copy_scalar(std::span<const std::uint32_t> rows, const MatrixRows& matrix,
                 const BatchRows& batch) noexcept {
  float* target = batch.data;
  for (const std::uint32_t row : rows) {
    const float* const source = matrix.data + row * matrix.stride;
    std::copy_n(source, matrix.value_count, target);
    std::fill(target + matrix.value_count, target + batch.stride, 0.0F);
    target += batch.stride;
  }
}

/// Bytes of `row_count` rows, or SIZE_MAX where the product overflows.
[[nodiscard]] std::size_t bytes_of(std::size_t row_count, std::size_t stride) noexcept {
  std::size_t floats = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(row_count, stride, &floats) ||
      __builtin_mul_overflow(floats, sizeof(float), &bytes))
    return SIZE_MAX;
  return bytes;
}

[[nodiscard]] bool shapes_fit(std::size_t count, const MatrixRows& matrix,
                              const BatchRows& batch) noexcept {
  if (matrix.value_count == 0 || matrix.stride < matrix.value_count) return false;
  if (batch.stride < matrix.value_count || batch.row_count < count) return false;
  const std::size_t matrix_bytes = bytes_of(matrix.row_count, matrix.stride);
  const std::size_t batch_bytes = bytes_of(batch.row_count, batch.stride);
  if (matrix_bytes > SIZE_MAX - address_of(matrix.data)) return false;
  if (batch_bytes > SIZE_MAX - address_of(batch.data)) return false;
  return (matrix.data != nullptr || matrix.row_count == 0) && (batch.data != nullptr || count == 0);
}

/// Requires: shapes_fit(). What is written are the first `count` rows of the batch.
[[nodiscard]] bool overlap(std::size_t count, const MatrixRows& matrix,
                           const BatchRows& batch) noexcept {
  const std::uintptr_t read = address_of(matrix.data);
  const std::uintptr_t written = address_of(batch.data);
  const std::size_t written_bytes = bytes_of(count, batch.stride);
  return written_bytes != 0 && written < read + bytes_of(matrix.row_count, matrix.stride) &&
         read < written + written_bytes;
}

[[nodiscard]] bool can_stream(const BatchRows& batch) noexcept {
  return is_aligned(batch.data, kCacheLineBytes) &&
         batch.stride % (kCacheLineBytes / sizeof(float)) == 0;
}
}  // namespace

CopyForm best_copy_form() noexcept {
  if (processor_has(CopyForm::kAvx512)) return CopyForm::kAvx512;
  return processor_has(CopyForm::kAvx2) ? CopyForm::kAvx2 : CopyForm::kScalar;
}

GatherResult gather(std::span<const std::uint32_t> rows, const MatrixRows& matrix,
                    const BatchRows& batch) noexcept {
  const bool is_large =
      rows.size() > kStreamBytes / sizeof(float) / std::max(batch.stride, std::size_t{1});
  return gather_with(best_copy_form(), is_large ? StoreForm::kStreamed : StoreForm::kCached, rows,
                     matrix, batch);
}

GatherResult check_gather(std::size_t count, const MatrixRows& matrix,
                          const BatchRows& batch) noexcept {
  if (!shapes_fit(count, matrix, batch)) return GatherResult::kBadShape;
  return overlap(count, matrix, batch) ? GatherResult::kOverlap : GatherResult::kDone;
}

GatherResult gather_with(CopyForm copy, StoreForm store, std::span<const std::uint32_t> rows,
                         const MatrixRows& matrix, const BatchRows& batch) noexcept {
  const GatherResult checked = check_gather(rows.size(), matrix, batch);
  if (checked != GatherResult::kDone || rows.empty()) return checked;
  if (*std::max_element(rows.begin(), rows.end()) >= matrix.row_count)
    return GatherResult::kIndexOutOfRange;
  if (copy == CopyForm::kScalar) {
    copy_scalar(rows, matrix, batch);
    return GatherResult::kDone;
  }
  DREY_ASSERT(processor_has(copy));
  copy_rows_of(copy, can_stream(batch) ? store : StoreForm::kCached)(rows, matrix, batch);
  return GatherResult::kDone;
}
}  // namespace drey
