// report_writer.hpp: text and JSON of any length without allocating: into a caller's buffer, counted
// and cut as snprintf does, or through a small buffer into a file.
//
// Invariants: length() counts what was added, whether it fitted or not; a caller's buffer always ends
// in a NUL (unless its size is 0); the first error of the file stays and ends the writing.
// Threads: one at a time. Read next: statistics.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::core {
class ReportWriter {
 public:
  /// Into `buffer`, as snprintf.
  ReportWriter(char* buffer, std::size_t size) noexcept;
  /// Into an open file, which the caller closes after finish().
  explicit ReportWriter(int descriptor) noexcept;
  ~ReportWriter() { static_cast<void>(finish()); }
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;

  ReportWriter& add(const char* text) noexcept;
  ReportWriter& add(std::uint64_t value) noexcept { return add_digits(value, 10, 1); }
  ReportWriter& add_signed(std::int64_t value) noexcept;
  ReportWriter& add_hex(std::uint64_t value) noexcept { return add("0x").add_digits(value, 16, 1); }
  /// In steps of 1,024 where that is exact: 524288 is "512K".
  ReportWriter& add_bytes(std::uint64_t bytes) noexcept;
  /// `part` of `whole` in percent with one decimal; 0.0 of nothing.
  ReportWriter& add_percent(std::uint64_t part, std::uint64_t whole) noexcept;
  /// Decimal, blanks in front to `width`.
  ReportWriter& add_right(std::uint64_t value, std::size_t width) noexcept;
  /// The text, then blanks to `width`.
  ReportWriter& add_left(const char* text, std::size_t width) noexcept;
  /// At most `length_max` characters, "..." after a cut, control characters as '?': one line always.
  ReportWriter& add_quoted(const char* text, std::size_t length_max) noexcept;

  /// Appends the contents of a file. Requires: this writes into a file.
  ReportWriter& append_file(const char* path) noexcept;

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Sends what is buffered. Returns: 0 or the first error.
  int finish() noexcept;

 private:
  void put(char character) noexcept;
  ReportWriter& add_digits(std::uint64_t value, unsigned base, int width_min) noexcept;

  static constexpr std::size_t kOwnBytes = 1024;
  static constexpr int kNoFile = -1;

  char own_[kOwnBytes];
  char* buffer_;
  std::size_t size_;
  std::size_t used_ = 0;
  std::size_t length_ = 0;
  int descriptor_;
  int error_ = 0;
};
}  // namespace drey::core
