// cases.hpp: what is measured, for every allocator there is.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey::bench {
void register_cuda_cases();
}  // namespace drey::bench
