// text_setting.hpp: a setting that is text: copied in, copied out, under a lock.
// Invariant: the text ends in a NUL; empty means not set. Threads: any.
// SPDX-License-Identifier: MIT
#pragma once

#include "os/lock.hpp"

#include <cstddef>
#include <cstring>

namespace drey::core {
class TextSetting {
 public:
  /// Bytes of a buffer for copy_to().
  static constexpr std::size_t kBytesMax = 1024;

  /// Fails: false, too long; unchanged.
  [[nodiscard]] bool set(const char* text) noexcept {
    const std::size_t length = std::strlen(text);
    if (length >= kBytesMax) return false;
    const os::LockHolder hold(lock_);
    std::memcpy(text_, text, length + 1);
    return true;
  }

  void copy_to(char (&buffer)[kBytesMax]) const noexcept {
    const os::LockHolder hold(lock_);
    std::memcpy(buffer, text_, kBytesMax);
  }

  [[nodiscard]] bool is_set() const noexcept {
    const os::LockHolder hold(lock_);
    return text_[0] != '\0';
  }

  /// For fork.cpp.
  [[nodiscard]] os::Lock& lock() noexcept { return lock_; }

 private:
  mutable os::Lock lock_;
  char text_[kBytesMax] = {};
};
}  // namespace drey::core
