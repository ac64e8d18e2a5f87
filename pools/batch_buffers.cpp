// batch_buffers.cpp: where the arrays of a batch lie, and growing.
// Read next: include/drey/pools/batch_buffers.hpp.
// SPDX-License-Identifier: MIT
#include <drey/pools/batch_buffers.hpp>

#include <drey/alloc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace drey {
namespace {
constexpr std::size_t kLineFloats = kCacheLineBytes / sizeof(float);
// Above this a stride could not be rounded up; no such state fits into memory anyway.
constexpr std::size_t kStateValuesMax = std::size_t{1} << 40;

/// Adds an array of `count` elements behind `end`, which moves on to the next cache line.
/// Returns: false if it overflows.
[[nodiscard]] bool append(std::size_t count, std::size_t element_bytes, std::size_t& begin,
                          std::size_t& end) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) return false;
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) - end - kCacheLineBytes) return false;
  begin = end;
  end = align_up(end + bytes, kCacheLineBytes);
  return true;
}
}  // namespace

BatchBuffers::BatchBuffers(RowForm form, std::size_t state_values,
                           const VectorBacking& backing) noexcept
    : state_values_(state_values <= kStateValuesMax ? state_values : 0),
      stride_(form == RowForm::kPadded ? align_up(state_values_, kLineFloats) : state_values_),
      backing_(backing) {}

BatchBuffers::~BatchBuffers() {
  give_up_block();
}

std::byte* BatchBuffers::make_block(std::size_t bytes) const noexcept {
  void* const block = allocate(bytes, kCacheLineBytes);
  if (block == nullptr) return nullptr;
  if (backing_.open != nullptr && !backing_.open(block, bytes, backing_.context)) {
    deallocate(block);
    return nullptr;
  }
  return static_cast<std::byte*>(block);
}

void BatchBuffers::give_up_block() noexcept {
  if (block_ == nullptr) return;
  if (backing_.close != nullptr) backing_.close(block_, reserved_bytes_, backing_.context);
  deallocate(block_);
}

bool BatchBuffers::lay_out(std::size_t rows, Layout& layout) const noexcept {
  std::size_t end = 0;
  std::size_t states = 0;
  const std::size_t row_bytes = stride_ * sizeof(float);
  const bool fits = append(rows, row_bytes, states, end) &&
                    append(rows, row_bytes, layout.next_states, end) &&
                    append(rows, sizeof(float), layout.weights, end) &&
                    append(rows, sizeof(float), layout.rewards, end) &&
                    append(rows, sizeof(std::int32_t), layout.actions, end) &&
                    append(rows, sizeof(std::uint8_t), layout.done, end);
  layout.bytes = end;
  return fits;
}

bool BatchBuffers::resize(std::size_t rows) noexcept {
  Layout layout;
  if (state_values_ == 0 || !lay_out(rows, layout)) return false;
  if (layout.bytes > reserved_bytes_) {
    std::byte* const block = make_block(layout.bytes);
    if (block == nullptr) return false;
    give_up_block();
    block_ = block;
    reserved_bytes_ = layout.bytes;
  }
  rows_ = rows;
  layout_ = layout;
  clear_tails();
  return true;
}

void BatchBuffers::clear_tails() noexcept {
  const std::size_t tail = stride_ - state_values_;
  if (tail == 0) return;
  for (const BatchRows& matrix : {states(), next_states()}) {
    for (std::size_t row = 0; row < rows_; ++row)
      std::fill_n(matrix.data + row * stride_ + state_values_, tail, 0.0F);
  }
}

bool BatchBuffers::invariants_hold() const noexcept {
  Layout layout;
  if (state_values_ == 0) return rows_ == 0;
  if (!lay_out(rows_, layout) || layout.bytes != layout_.bytes) return false;
  return layout.bytes <= reserved_bytes_ && is_aligned(block_, kCacheLineBytes) &&
         layout.weights == layout_.weights && layout.done == layout_.done;
}
}  // namespace drey
