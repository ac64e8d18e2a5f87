// policies.hpp: the policies that a trace is replayed on, by name.
// Read next: drey_policy.cpp, pytorch_policy.cpp, expandable_policy.cpp, rmm_policy.cpp, pages_policy.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "replay/policy.hpp"

#include <drey/cuda/driver_table.hpp>

#include <span>
#include <string_view>

namespace drey::cuda::replay {
struct PolicyKind {
  std::string_view name;
  std::string_view text;  ///< what it is, in a few words
  MakePolicy make;
  MakePolicy make_timed;  ///< the same to be timed, without limit; null: `make` does
};

/// All of them; a model says so in its text.
[[nodiscard]] std::span<const PolicyKind> policies();

[[nodiscard]] std::unique_ptr<Policy> make_drey_policy(std::uint64_t capacity);
/// On a driver that is started and outlives it, with the capacity as the hard limit.
[[nodiscard]] std::unique_ptr<Policy> make_drey_policy_on(const DriverTable& driver,
                                                          std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_timed_drey_policy(std::uint64_t capacity);
/// With handles of one page, so that each page can be moved by itself.
[[nodiscard]] std::unique_ptr<Policy> make_drey_pages_policy(std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_timed_drey_pages_policy(std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_pytorch_policy(std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_expandable_policy(std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_rmm_policy(std::uint64_t capacity);
[[nodiscard]] std::unique_ptr<Policy> make_pages_policy(std::uint64_t capacity);
}  // namespace drey::cuda::replay
