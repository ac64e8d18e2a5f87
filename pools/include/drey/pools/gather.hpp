// gather.hpp: copies chosen rows of a matrix into a batch, side by side.
//
// The rows of a replay buffer are picked at random, so each is a cache miss of many lines: while one
// is copied, those to come are prefetched. The copy is AVX-512's or AVX2's where the processor has
// them, asked once a call; the scalar path is what they are tested against.
// Invariant: nothing is written unless everything can be.
// Read next: gather_vectors.hpp, batch_buffers.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace drey {
/// Rows to choose from. Shape: (row_count, value_count), row-major. Units: strides in floats.
struct MatrixRows {
  const float* data = nullptr;
  std::size_t row_count = 0;
  std::size_t value_count = 225;  ///< floats that are copied of a row
  std::size_t stride = 225;       ///< from row to row: value_count when packed, 240 when padded
};

/// Room for rows. Lanes behind a row's values, up to the stride, become zero.
struct BatchRows {
  float* data = nullptr;
  std::size_t row_count = 0;
  std::size_t stride = 225;
};

enum class GatherResult : std::uint8_t {
  kDone,
  kIndexOutOfRange,  ///< a row that the matrix does not have
  kBadShape,         ///< a stride below value_count, null, more rows than room, or overflow
  kOverlap,          ///< the batch lies in the matrix
  kStaleReference,   ///< a reference to no taken vector of the pool (gather_vectors.hpp)
};

/// The instructions a copy is made with.
enum class CopyForm : std::uint8_t {
  kScalar,
  kAvx2,
  kAvx512,
};
/// How the batch is written.
enum class StoreForm : std::uint8_t {
  kCached,    ///< stays in the caches: for a batch that is used at once
  kStreamed,  ///< past the caches, where rows of the batch lie on cache lines; else as kCached
};

/// Copies row rows[i] of `matrix` to row i of `batch`.
/// Returns: kDone, or why nothing was written.
/// Threads: any; they may share a matrix that nobody writes.
/// Cost: that of reading the rows; streamed where the batch is larger than kStreamBytes.
[[nodiscard]] GatherResult gather(std::span<const std::uint32_t> rows, const MatrixRows& matrix,
                                  const BatchRows& batch) noexcept;

/// The same, with instructions of the caller's choice. Requires: the processor has them.
[[nodiscard]] GatherResult gather_with(CopyForm copy, StoreForm store,
                                       std::span<const std::uint32_t> rows,
                                       const MatrixRows& matrix, const BatchRows& batch) noexcept;

/// What gather() would say of `count` rows that the matrix has: kDone, kBadShape or kOverlap.
[[nodiscard]] GatherResult check_gather(std::size_t count, const MatrixRows& matrix,
                                        const BatchRows& batch) noexcept;

/// The best that this processor has.
[[nodiscard]] CopyForm best_copy_form() noexcept;

/// Batches above this are streamed: they would not be in a core's cache when they are used.
inline constexpr std::size_t kStreamBytes = std::size_t{4} << 20;
}  // namespace drey
