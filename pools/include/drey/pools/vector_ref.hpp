// vector_ref.hpp: names a taken vector without holding it.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/pool_memory.hpp>

#include <cstddef>
#include <cstdint>

namespace drey {
/// Eight bytes that name a taken vector: its index and the generation in which it was taken. The
/// pool's find() knows when the vector has been given back since.
/// Threads: a value, as any.
class VectorRef {
 public:
  /// Names nothing.
  VectorRef() noexcept = default;
  VectorRef(std::uint32_t place, std::uint8_t pool_tag, std::uint32_t generation) noexcept
      : place_and_tag_((std::uint32_t{pool_tag} << kPlaceBits) | place), generation_(generation) {}

  [[nodiscard]] std::uint32_t place() const noexcept {
    return place_and_tag_ & ((1U << kPlaceBits) - 1);
  }
  [[nodiscard]] std::uint8_t pool_tag() const noexcept {
    return static_cast<std::uint8_t>(place_and_tag_ >> kPlaceBits);
  }
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }
  friend bool operator==(VectorRef one, VectorRef other) noexcept = default;

 private:
  static constexpr int kPlaceBits = 24;
  static_assert(kPlacesMax < (std::size_t{1} << kPlaceBits));

  std::uint32_t place_and_tag_ = 0;
  std::uint32_t generation_ = 0;  // even: never that of a taken vector
};
static_assert(sizeof(VectorRef) == 8);
}  // namespace drey
