// aligned_array.hpp: a fixed number of plain values, starting on a cache line.
// Invariants: data() is a multiple of 64 whatever malloc is in use (vectorised sums group their
// terms by alignment, so results would else depend on the allocator); one allocation, at
// construction.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/units.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace drey::trainer {
/// Zeroed at construction. Movable, not copyable. Threads: as a plain array.
template <class Value>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size)
      : size_(size), values_(new (std::align_val_t{kCacheLineBytes}) Value[size]()) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Value* data() { return values_.get(); }
  [[nodiscard]] const Value* data() const { return values_.get(); }
  [[nodiscard]] Value& operator[](std::size_t index) { return values_[index]; }
  [[nodiscard]] const Value& operator[](std::size_t index) const { return values_[index]; }
  [[nodiscard]] std::span<Value> span() { return {values_.get(), size_}; }
  [[nodiscard]] std::span<const Value> span() const { return {values_.get(), size_}; }

 private:
  struct AlignedDelete {
    void operator()(Value* pointer) const {
      ::operator delete[](pointer, std::align_val_t{kCacheLineBytes});
    }
  };

  std::size_t size_ = 0;
  std::unique_ptr<Value[], AlignedDelete> values_;
};
}  // namespace drey::trainer
