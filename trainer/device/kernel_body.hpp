// kernel_body.hpp: what a kernel is here: phases of work for a place (block, thread), between which all
// threads of the block wait for each other. A device runs them side by side; run_on_host() runs
// them one after another and gives the same numbers, but for roundings that a compiler merges.
//
// A kernel is a struct of
//   kName                         of its function in the device's module
//   Arguments                     plain data, the same for all threads
//   Shared, Registers             memory of a block, memory of a thread; registers begin as zeros
//   kThreads                      of a block
//   phase_count(arguments)        the same for all threads
//   run(arguments, place, shared, registers, phase)
//   accesses(arguments, report)   report(pointer, bytes, is_write) for all memory that it uses
// Invariants: in one phase no thread reads of Shared what another writes in it; every sum has a fixed
// order; the functions are constexpr, which is what makes nvcc compile them for both sides.
// Read next: product_kernel.hpp, kernel_list.hpp, queue.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace drey::trainer {
/// Where a piece of a kernel runs.
struct Place {
  std::uint32_t block;
  std::uint32_t thread;
};

/// For kernels without one of the two.
struct NoMemory {};

/// Blocks of `threads` that cover `count` places.
[[nodiscard]] constexpr std::uint32_t blocks_for(std::size_t count, std::uint32_t threads) {
  return static_cast<std::uint32_t>((count + threads - 1) / threads);
}

/// All blocks of a kernel, one after another. Threads: as the memory it uses. Cost: no heap call.
template <class Kernel>
void run_on_host(const typename Kernel::Arguments& arguments, std::uint32_t blocks) {
  static_assert(std::is_trivially_copyable_v<typename Kernel::Arguments>);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    typename Kernel::Shared shared;
    std::memset(static_cast<void*>(&shared), 0xff, sizeof(shared));  // NaN, if it is read too soon
    std::array<typename Kernel::Registers, Kernel::kThreads> registers{};
    for (std::uint32_t phase = 0; phase < Kernel::phase_count(arguments); ++phase) {
      for (std::uint32_t thread = 0; thread < Kernel::kThreads; ++thread) {
        Kernel::run(arguments, Place{block, thread}, shared, registers[thread], phase);
      }
    }
  }
}
}  // namespace drey::trainer
