// gather_vectors.hpp: gather() from a pool of vectors: the rows are what the references name.
//
// A pool's vectors lie at one stride, so a reference's place is a row's number. Each reference is
// looked up first: a stale one, or another pool's, is found before anything is written.
// Read next: gather.hpp, vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/gather.hpp>
#include <drey/pools/vector_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace drey {
namespace detail {
/// The place of a first vector with this stride, from any of them.
template <typename Pool>
[[nodiscard]] MatrixRows rows_of_pool(const Pool& pool, VectorRef ref) noexcept {
  const std::size_t stride = pool.stride_bytes() / sizeof(float);
  const float* const row = pool.find(ref)->values().data();
  return {row - ref.place() * stride, pool.capacity(), Pool::Vector::kValueCount, stride};
}
}  // namespace detail

/// Copies the vector that refs[i] names to row i of `batch`; lanes behind the values become zero.
/// Returns: as gather(); kStaleReference, and nothing is written, if a reference names no taken
/// vector of this pool.
/// Threads: as VectorPool::find(): somebody keeps the vectors taken and unwritten meanwhile.
/// Cost: as gather(), and a look at each vector's generation.
template <typename Vector>
[[nodiscard]] GatherResult gather(std::span<const VectorRef> refs,
                                  const BasicVectorPool<Vector>& pool,
                                  const BatchRows& batch) noexcept {
  static_assert(std::is_same_v<typename Vector::Number, float>);
  constexpr std::size_t kBlockRows = 256;
  for (const VectorRef ref : refs) {
    if (pool.find(ref) == nullptr) return GatherResult::kStaleReference;
  }
  if (refs.empty()) return GatherResult::kDone;
  const MatrixRows matrix = detail::rows_of_pool(pool, refs.front());
  const GatherResult checked = check_gather(refs.size(), matrix, batch);
  if (checked != GatherResult::kDone) return checked;
  std::uint32_t rows[kBlockRows];
  for (std::size_t first = 0; first < refs.size(); first += kBlockRows) {
    const std::size_t left = refs.size() - first;
    const std::size_t count = left < kBlockRows ? left : kBlockRows;
    for (std::size_t i = 0; i < count; ++i) rows[i] = refs[first + i].place();
    const BatchRows part{batch.data + first * batch.stride, count, batch.stride};
    const GatherResult result = gather(std::span<const std::uint32_t>(rows, count), matrix, part);
    if (result != GatherResult::kDone) return result;
  }
  return GatherResult::kDone;
}
}  // namespace drey
