// batch_buffers.hpp: the arrays of one training batch, side by side in one block that is used again.
//
// One row a transition. The block, from its first byte to bytes(), is what one host-to-device copy
// takes; states and next states are row-major matrices as a GEMM wants them. Layout for n rows:
//   states | next_states | weights | rewards | actions | done     each from a cache line on
// Invariants: the block only grows; resize() to a size it has had before never calls the heap; in
// padded form each row begins a cache line and the lanes behind its values are zero after resize().
// Read next: gather.hpp, which fills the states.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>
#include <drey/pools/gather.hpp>
#include <drey/pools/pool_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace drey {
enum class RowForm : std::uint8_t {
  kPadded,  ///< stride a multiple of 16 floats: 240 for 225
  kPacked,  ///< stride = values
};

/// Threads: one at a time.
class BatchBuffers {
 public:
  static constexpr std::size_t kStateValues = 225;

  /// Takes no memory yet. Units: floats a state; 0 makes every resize() fail.
  /// `backing` is told of each block before it is used, and before it is given back: to pin it.
  explicit BatchBuffers(RowForm form = RowForm::kPadded, std::size_t state_values = kStateValues,
                        const VectorBacking& backing = {}) noexcept;
  ~BatchBuffers();
  BatchBuffers(const BatchBuffers&) = delete;
  BatchBuffers& operator=(const BatchBuffers&) = delete;

  /// Makes the arrays `rows` long; 0 is allowed. Contents are lost: zero lanes behind the values of
  /// padded rows, unspecified elsewhere. Spans and pointers from before are void.
  /// Fails: false, everything as it was, if the size overflows, memory runs out or the backing
  /// refuses.
  /// Cost: no heap call up to the largest batch so far; the zero lanes are written.
  [[nodiscard]] bool resize(std::size_t rows) noexcept;

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t state_values() const noexcept { return state_values_; }  ///< floats
  [[nodiscard]] std::size_t state_stride() const noexcept { return stride_; }        ///< floats

  /// The whole batch, for one copy. 64-aligned; null before the first resize() to some rows.
  [[nodiscard]] std::byte* data() noexcept { return block_; }
  [[nodiscard]] const std::byte* data() const noexcept { return block_; }
  /// Of the batch as it is now, a multiple of 64.
  [[nodiscard]] std::size_t bytes() const noexcept { return layout_.bytes; }
  /// Of the block, at least bytes().
  [[nodiscard]] std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }

  /// Shape: (rows, state_values), row-major with state_stride(). For gather().
  [[nodiscard]] BatchRows states() noexcept { return {floats_at(0), rows_, stride_}; }
  [[nodiscard]] BatchRows next_states() noexcept {
    return {floats_at(layout_.next_states), rows_, stride_};
  }
  /// One row. Shape: (state_values,). Requires: row < rows().
  [[nodiscard]] std::span<float> state(std::size_t row) noexcept {
    return {floats_at(0) + row * stride_, state_values_};
  }
  [[nodiscard]] std::span<float> next_state(std::size_t row) noexcept {
    return {floats_at(layout_.next_states) + row * stride_, state_values_};
  }

  /// Shape: (rows,), each.
  [[nodiscard]] std::span<float> weights() noexcept { return {floats_at(layout_.weights), rows_}; }
  [[nodiscard]] std::span<float> rewards() noexcept { return {floats_at(layout_.rewards), rows_}; }
  [[nodiscard]] std::span<std::int32_t> actions() noexcept {
    return {reinterpret_cast<std::int32_t*>(block_ + layout_.actions), rows_};
  }
  /// 1 where the episode ended with this transition, else 0.
  [[nodiscard]] std::span<std::uint8_t> done() noexcept {
    return {reinterpret_cast<std::uint8_t*>(block_ + layout_.done), rows_};
  }

  /// Where each array begins in the block, in bytes: the same on a device that got a copy. Part of
  /// the contract, for kernels: states are at 0.
  struct Layout {
    std::size_t next_states = 0;
    std::size_t weights = 0;
    std::size_t rewards = 0;
    std::size_t actions = 0;
    std::size_t done = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }

  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  [[nodiscard]] float* floats_at(std::size_t offset) noexcept {
    return reinterpret_cast<float*>(block_ + offset);
  }
  [[nodiscard]] bool lay_out(std::size_t rows, Layout& layout) const noexcept;
  void clear_tails() noexcept;
  [[nodiscard]] std::byte* make_block(std::size_t bytes) const noexcept;
  void give_up_block() noexcept;

  std::byte* block_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::size_t rows_ = 0;
  const std::size_t state_values_;
  std::size_t stride_;
  Layout layout_;
  const VectorBacking backing_;
};
}  // namespace drey
