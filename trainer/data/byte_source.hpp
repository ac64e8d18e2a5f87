// byte_source.hpp: the bytes of a binary file from front to back, plain or unpacked, in fixed
// memory.
// Read next: dbn_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace drey::trainer {
/// Threads: one at a time.
class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `bytes` from its front. Returns: how many were filled; fewer only at the end.
  /// Fails: DataError when the file cannot be read, or what it is packed in is damaged.
  [[nodiscard]] virtual std::size_t read(std::span<char> bytes) = 0;
};

/// Fails: DataError when `path` is missing or a directory.
void require_file(const std::string& path);

/// The bytes of `path` as they are. Fails: DataError when it is missing, a directory or unreadable.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// What the zstd frames of `packed`, the bytes of `path`, hold; frames follow each other, those
/// that are marked as skippable are.
/// Fails: DataError at once where this program was built without libzstd; on read() for damage and
/// for a frame that is cut off.
[[nodiscard]] std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed,
                                                      const std::string& path);

/// Up to `count_max` bytes at the front of `path`; none when it is a pipe, which can be read once
/// only. Fails: as open_bytes().
[[nodiscard]] std::string first_bytes(const std::string& path, std::size_t count_max);
}  // namespace drey::trainer
