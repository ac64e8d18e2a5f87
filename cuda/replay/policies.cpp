// policies.cpp: see policies.hpp.
// SPDX-License-Identifier: MIT
#include "replay/policies.hpp"

namespace drey::cuda::replay {
std::span<const PolicyKind> policies() {
  static constexpr PolicyKind kKinds[] = {
      {"drey", "drey's device allocator itself, on the simulated device", make_drey_policy,
       make_timed_drey_policy},
      {"drey_pages", "the same with every page in a handle of its own", make_drey_pages_policy,
       make_timed_drey_pages_policy},
      {"pages", "model: one range of addresses, 2 MiB pages moved where they are needed",
       make_pages_policy, nullptr},
      {"pytorch", "model: PyTorch's native caching allocator", make_pytorch_policy, nullptr},
      {"expandable", "model: PyTorch with expandable segments of 20 MiB handles",
       make_expandable_policy, nullptr},
      {"rmm", "model: RMM's pool, coalescing best fit, a list a stream", make_rmm_policy, nullptr},
  };
  return kKinds;
}
}  // namespace drey::cuda::replay
