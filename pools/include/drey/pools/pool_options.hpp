// pool_options.hpp: what a pool of vectors is made with: how many, on which memory, how suspicious.
// Read next: vector_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey {
/// What a taken vector's values are before the taker writes them.
enum class VectorContents : std::uint8_t {
  kUnspecified,  ///< whatever was there
  kZero,
};

/// Which pages the vectors lie on.
enum class VectorPages : std::uint8_t {
  kPlain,  ///< as the system is set
  kHuge,   ///< on a border of 2 MiB, and the kernel is asked for huge pages
};

/// Told of each piece of a pool's memory before its first vector is taken, and of all of it at the
/// end: to pin it for a device, to bind it to a node. Units: bytes.
struct VectorBacking {
  /// Returns: false if the piece cannot be had; the pool does not grow then.
  /// Pieces lie one behind the other; the first starts where the pool does.
  bool (*open)(void* begin, std::size_t bytes, void* context) noexcept = nullptr;
  void (*close)(void* begin, std::size_t bytes, void* context) noexcept = nullptr;
  void* context = nullptr;
};

/// Whether a pool checks what its holders do: poison in free vectors, guards behind each, where each
/// was taken. Every call takes the pool's lock then, and a vector needs 64 bytes more.
enum class VectorChecks : std::uint8_t {
  kAutomatic,  ///< on if DREY_POOL_CHECKS is 1, under AddressSanitizer and under Valgrind
  kOff,
  kOn,
};

struct VectorPoolOptions {
  std::size_t capacity = 0;  ///< vectors
  /// The capacity the pool may grow to, in steps that double it; 0: it does not grow. Address space
  /// is reserved for that many; memory is committed when a vector is first written to.
  std::size_t capacity_max = 0;
  VectorContents contents = VectorContents::kUnspecified;
  VectorPages pages = VectorPages::kPlain;
  VectorBacking backing = {};
  VectorChecks checks = VectorChecks::kAutomatic;
};
}  // namespace drey
