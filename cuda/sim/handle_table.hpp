// handle_table.hpp: handles that are used again as soon as they can be: the last one taken away is
// the next one given, which is what a program that keeps stale handles must survive.
// Invariant: a handle of one table is never one of another table: each has its own base.
// Read next: machine.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace drey::cuda::sim {
/// Handle: a pointer type that nobody dereferences, or an integer.
template <typename Handle, typename Object>
class HandleTable {
 public:
  explicit HandleTable(std::uint64_t base) : base_(base) {}

  Handle add(std::shared_ptr<Object> object) {
    if (idle_.empty()) {
      idle_.push_back(slots_.size());
      slots_.emplace_back();
    }
    const std::size_t slot = idle_.back();
    idle_.pop_back();
    slots_[slot] = std::move(object);
    ++size_;
    return handle_of(slot);
  }

  /// Null for what is no handle of this table now.
  [[nodiscard]] Object* find(Handle handle) const {
    const std::size_t slot = slot_of(handle);
    return slot < slots_.size() ? slots_[slot].get() : nullptr;
  }
  [[nodiscard]] std::shared_ptr<Object> share(Handle handle) const {
    const std::size_t slot = slot_of(handle);
    return slot < slots_.size() ? slots_[slot] : nullptr;
  }

  void erase(Handle handle) {
    const std::size_t slot = slot_of(handle);
    slots_[slot].reset();
    idle_.push_back(slot);
    --size_;
  }

  template <typename Predicate>
  void erase_if(Predicate&& predicate) {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot] != nullptr && predicate(*slots_[slot])) erase(handle_of(slot));
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  template <typename Visit>
  void for_each_shared(Visit&& visit) const {
    for (const auto& object : slots_) {
      if (object != nullptr) visit(object);
    }
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& object : slots_) {
      if (object != nullptr) visit(*object);
    }
  }

 private:
  static constexpr std::uint64_t kStep = 16;

  [[nodiscard]] Handle handle_of(std::size_t slot) const {
    const std::uint64_t number = base_ + slot * kStep;
    if constexpr (std::is_pointer_v<Handle>) {
      return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
    } else {
      return number;
    }
  }
  [[nodiscard]] std::size_t slot_of(Handle handle) const {
    std::uint64_t number = 0;
    if constexpr (std::is_pointer_v<Handle>) {
      number = reinterpret_cast<std::uintptr_t>(handle);
    } else {
      number = handle;
    }
    if (number < base_ || (number - base_) % kStep != 0) return SIZE_MAX;
    return static_cast<std::size_t>((number - base_) / kStep);
  }

  std::uint64_t base_;
  std::vector<std::shared_ptr<Object>> slots_;
  std::vector<std::size_t> idle_;
  std::size_t size_ = 0;
};
}  // namespace drey::cuda::sim
