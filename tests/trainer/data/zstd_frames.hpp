// zstd_frames.hpp: packs text for the tests.
// SPDX-License-Identifier: MIT
#pragma once

#include <zstd.h>

#include <string>
#include <string_view>

namespace drey::trainer {
/// `text` as one zstd frame.
inline std::string zstd_packed(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}
}  // namespace drey::trainer
