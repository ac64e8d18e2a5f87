// gather_rows.hpp: the copies behind gather(), one a kind of processor.
//
// Contract of each: rows, matrix and batch have been checked. A row's values are copied, the lanes
// up to the batch's stride zeroed. Streamed needs batch.data on a cache line and the stride a
// multiple of 16 floats.
// Read next: gather.cpp, gather_x86.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/gather.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace drey {
using CopyRows = void (*)(std::span<const std::uint32_t> rows, const MatrixRows& matrix,
                          const BatchRows& batch) noexcept;

/// Null where the processor or the compiler's target has no such instructions.
[[nodiscard]] CopyRows copy_rows_of(CopyForm copy, StoreForm store) noexcept;
/// Whether this processor has the instructions of `copy`, which is not kScalar.
[[nodiscard]] bool processor_has(CopyForm copy) noexcept;
}  // namespace drey
