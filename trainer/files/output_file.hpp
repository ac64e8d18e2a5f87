// output_file.hpp: a file that appears whole or not at all.
// The contents go to FILE.partial, which is synced and renamed over FILE, and the folder is synced:
// after a crash at any moment FILE is the old one or the new one.
// A FILE that is a device or a pipe is written to directly.
// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace drey::trainer {
/// Finds out, before any work is done, whether `path` can be written: makes and removes
/// FILE.partial. An existing FILE is left as it is.
/// Fails: SystemError naming file and reason.
void check_writable(const std::string& path);

/// Replaces `path` by a file of these contents.
/// Fails: SystemError; `path` is then as it was, and no partial file stays.
void write_file(const std::string& path, std::string_view contents);

/// The same for contents that lie in several pieces, written one after the other.
void write_file(const std::string& path, std::initializer_list<std::string_view> pieces);

/// The whole of a regular file. Fails: SystemError naming file and reason.
[[nodiscard]] std::string read_file(const std::string& path);
}  // namespace drey::trainer
