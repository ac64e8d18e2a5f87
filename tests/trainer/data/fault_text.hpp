// fault_text.hpp: what a reader says about bad input, for comparison with a whole sentence.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "trainer/data/error.hpp"

namespace drey::trainer {
/// The message of the DataError that `read` throws, with `path` shown as FILE; "no error" if none.
template <class Read>
std::string fault_text(const std::string& path, Read&& read) {
  try {
    static_cast<void>(read());
  } catch (const DataError& error) {
    std::string text = error.what();
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + 4))
      text.replace(at, path.size(), "FILE");
    return text;
  }
  return "no error";
}
}  // namespace drey::trainer
