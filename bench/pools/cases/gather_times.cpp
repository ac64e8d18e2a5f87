// gather_times.cpp: random rows of 225 floats out of 100,000 (90 MB) into a batch, a row's cost; beside
// std::memcpy of the same rows, and gather's other forms. Names say the batch's rows and how they lie:
// packed (225 floats) or padded (240) in the matrix, then in the batch.
// Read next: pool_cases.hpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/pool_cases.hpp"

#include <drey/pools/gather.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace drey::bench {
namespace {
constexpr std::size_t kMatrixRows = 100'000;
constexpr std::size_t kValues = 225;
constexpr std::size_t kDrawnRows = 1 << 16;  // so that no row comes again while it is in a cache

struct Free {
  void operator()(float* block) const noexcept { std::free(block); }
};
using Floats = std::unique_ptr<float, Free>;

/// Room from a cache line on, written.
Floats make_floats(std::size_t count) {
  void* block = nullptr;
  if (posix_memalign(&block, 64, count * sizeof(float)) != 0) std::abort();
  Floats floats(static_cast<float*>(block));
  for (std::size_t index = 0; index < count; ++index)
    floats.get()[index] = static_cast<float>(index % 1000);
  return floats;
}

struct GatherShape {
  const char* name;
  std::size_t matrix_stride;
  std::size_t batch_stride;
  std::size_t batch_rows;
};

/// Copies rows by `copy(rows, matrix, batch)`, batch after batch of rows drawn before.
template <class Copy>
Figures copies(double seconds, const GatherShape& shape, Copy copy) {
  const Floats matrix = make_floats(kMatrixRows * shape.matrix_stride);
  const Floats batch = make_floats(shape.batch_rows * shape.batch_stride);
  std::vector<std::uint32_t> drawn(kDrawnRows);
  Random random;
  for (std::uint32_t& row : drawn) row = static_cast<std::uint32_t>(random.below(kMatrixRows));
  const MatrixRows from{matrix.get(), kMatrixRows, kValues, shape.matrix_stride};
  const BatchRows to{batch.get(), shape.batch_rows, shape.batch_stride};
  std::size_t first = 0;
  return cost_of(seconds, static_cast<double>(shape.batch_rows), [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      copy(std::span<const std::uint32_t>(drawn.data() + first, shape.batch_rows), from, to);
      keep(to.data);
      first = (first + shape.batch_rows) % kDrawnRows;
    }
  });
}

void copy_by_memcpy(std::span<const std::uint32_t> rows, const MatrixRows& matrix,
                    const BatchRows& batch) {
  float* target = batch.data;
  for (const std::uint32_t row : rows) {
    std::memcpy(target, matrix.data + row * matrix.stride, kValues * sizeof(float));
    target += batch.stride;
  }
}

void add_form(PoolCaseList& cases, const GatherShape& shape, const char* name, CopyForm copy,
              StoreForm store) {
  if (best_copy_form() < copy) return;
  cases.push_back({"gather", shape.name, name, [=](double seconds) {
                     return copies(
                         seconds, shape, [=](auto rows, const auto& from, const auto& to) {
                           if (gather_with(copy, store, rows, from, to) != GatherResult::kDone)
                             std::abort();
                         });
                   }});
}

void add_shape(PoolCaseList& cases, const GatherShape& shape) {
  cases.push_back({"gather", shape.name, kDreyWay, [=](double seconds) {
                     return copies(seconds, shape, [](auto rows, const auto& from, const auto& to) {
                       if (gather(rows, from, to) != GatherResult::kDone) std::abort();
                     });
                   }});
  cases.push_back({"gather", shape.name, "memcpy",
                   [=](double seconds) { return copies(seconds, shape, copy_by_memcpy); }});
  add_form(cases, shape, "drey_scalar", CopyForm::kScalar, StoreForm::kCached);
  add_form(cases, shape, "drey_avx2", CopyForm::kAvx2, StoreForm::kCached);
  add_form(cases, shape, "drey_avx512", CopyForm::kAvx512, StoreForm::kCached);
  add_form(cases, shape, "drey_streamed", best_copy_form(), StoreForm::kStreamed);
}
}  // namespace

void add_gather_times(PoolCaseList& cases) {
  add_shape(cases, {"gather/128_packed_to_padded", 225, 240, 128});
  add_shape(cases, {"gather/128_packed_to_packed", 225, 225, 128});
  add_shape(cases, {"gather/128_padded_to_padded", 240, 240, 128});
  add_shape(cases, {"gather/16384_packed_to_padded", 225, 240, 16'384});
}
}  // namespace drey::bench
