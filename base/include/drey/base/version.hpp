// version.hpp: the one place that says which version this is; the build checks it against CMake's.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey {
inline constexpr const char* kVersionText = "0.1.0";
}  // namespace drey
