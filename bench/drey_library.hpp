// drey_library.hpp: where libdrey.so is, for the programs that preload it.
// Read next: drey_library.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace drey::bench {
/// $DREY_LIBRARY if set, else ../lib/libdrey.so seen from `bin_dir`, else the multiarch folder
/// below
/// ../lib. Returns the first place even if nothing is there: the caller reports it.
[[nodiscard]] std::filesystem::path drey_library(const std::filesystem::path& bin_dir);

/// Value for LD_PRELOAD: the library, then what was there.
[[nodiscard]] std::string preload_with(const std::filesystem::path& library);
}  // namespace drey::bench
