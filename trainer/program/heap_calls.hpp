// heap_calls.hpp: the heap calls of this process, where the program was linked with a counter.
// The steps of training must make none; a program that can count refuses to pass over one.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace drey::trainer {
/// Calls so far, by all threads; nothing when this program has no counter. Makes none itself.
[[nodiscard]] std::optional<std::uint64_t> heap_calls() noexcept;
}  // namespace drey::trainer
