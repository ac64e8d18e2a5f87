// metadata_array.hpp: a table of fixed size for the allocator's own records: pages of the kernel, zero
// until written, taken from nobody's heap, so that no user's malloc is entered with a lock held.
// Invariant: size() entries, or none where there was no memory.
// Read next: page_store.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

namespace drey::cuda {
/// Entries start as all zero bytes. Threads: as an array. Cost: one system call; memory when touched.
template <typename Entry>
class MetadataArray {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  MetadataArray() noexcept = default;
  ~MetadataArray() { give_back(); }
  MetadataArray(const MetadataArray&) = delete;
  MetadataArray& operator=(const MetadataArray&) = delete;

  /// Fails: false, and the array is empty.
  [[nodiscard]] bool take(std::size_t size) noexcept {
    give_back();
    if (size == 0 || size > SIZE_MAX / sizeof(Entry)) return false;
    void* const memory = ::mmap(nullptr, size * sizeof(Entry), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    entries_ = static_cast<Entry*>(memory);
    size_ = size;
    return true;
  }

  void swap(MetadataArray& other) noexcept {
    std::swap(entries_, other.entries_);
    std::swap(size_, other.size_);
  }

  void give_back() noexcept {
    if (entries_ != nullptr) ::munmap(entries_, size_ * sizeof(Entry));
    entries_ = nullptr;
    size_ = 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Entry& operator[](std::size_t index) noexcept {
    DREY_ASSERT(index < size_);
    return entries_[index];
  }
  [[nodiscard]] const Entry& operator[](std::size_t index) const noexcept {
    DREY_ASSERT(index < size_);
    return entries_[index];
  }

 private:
  Entry* entries_ = nullptr;
  std::size_t size_ = 0;
};
}  // namespace drey::cuda
