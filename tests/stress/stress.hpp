// stress.hpp: a block that travels between threads, and the slots it travels through.
// Invariant: a slot is taken and filled by one exchange; so a block has one holder at any time, and
// the holder may check, write and free it without a lock.
// Read next: thread_exchange_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/heap_calls.hpp"
#include "support/pattern.hpp"
#include "support/seed.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace drey::test {
/// Lies at the start of each travelling block; the rest is the pattern of `tag`.
struct Travelling {
  std::size_t bytes;
  std::uint64_t tag;
};

/// A block of `bytes` (at least a Travelling) with its pattern; null if there is no memory.
inline Travelling* make_travelling(std::size_t bytes, std::uint64_t tag) {
  if (bytes < sizeof(Travelling)) bytes = sizeof(Travelling);
  auto* const block = static_cast<Travelling*>(heap::take(bytes));
  if (block == nullptr) return nullptr;
  *block = Travelling{bytes, tag};
  const std::size_t rest = bytes - sizeof(Travelling);
  if (bytes <= 8192) fill_pattern(block + 1, rest, tag);
  if (bytes > 8192) fill_sparse(block + 1, rest, tag);
  return block;
}

/// Checks the pattern and frees the block. Returns: whether it was intact.
inline bool check_and_free(Travelling* block) {
  if (block == nullptr) return true;
  const std::size_t rest = block->bytes - sizeof(Travelling);
  const bool intact = block->bytes <= 8192 ? check_pattern(block + 1, rest, block->tag)
                                           : check_sparse(block + 1, rest, block->tag);
  heap::give_back(block);
  return intact;
}

/// Places where threads leave blocks for each other.
template <std::size_t kCount>
class Slots {
 public:
  /// Puts a block in and takes out what was there. Acquire and release: the contents of the block
  /// go with it; pairs with the exchange of the other thread.
  Travelling* exchange(std::size_t index, Travelling* block) {
    return slots_[index % kCount].exchange(block, std::memory_order_acq_rel);
  }

  /// Empties all slots. Returns: whether all was intact.
  bool drain() {
    bool intact = true;
    for (std::size_t i = 0; i < kCount; ++i)
      intact = check_and_free(exchange(i, nullptr)) && intact;
    return intact;
  }

 private:
  std::array<std::atomic<Travelling*>, kCount> slots_{};
};

/// Log-uniform in [1, size_max].
inline std::size_t draw_size(Random& random, unsigned bits_max) {
  const std::size_t limit = std::size_t{1} << random.below(bits_max);
  return limit + random.below(limit);
}

/// Runs `body(index)` in `count` threads and joins them.
template <typename Body>
void run_threads(std::size_t count, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}
}  // namespace drey::test
