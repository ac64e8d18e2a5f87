// line_reader.hpp: the lines of a text file, plain or gzip, in fixed memory.
// Invariants: row() is the number of the line last returned, counted from 1; every byte of a gzip
// file is checked against its checksum before end of file is reported.
// Read next: csv_reader.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
/// Threads: one at a time. Cost: one buffer of 256 KiB, however long the file is.
class LineReader {
 public:
  /// Fails: DataError when `path` is missing, a directory or unreadable, or ends in .gz and holds
  /// no gzip data.
  explicit LineReader(std::string path);

  /// The next line without its LF or CRLF (and the first without a byte order mark); false at the
  /// end. The view holds until the next call. A last line without a newline counts as a line.
  /// Fails: DataError on truncated or damaged gzip data, and on a line longer than the buffer.
  [[nodiscard]] bool next(std::string_view& line);

  [[nodiscard]] std::size_t row() const { return row_; }

  /// How many lines the whole file has if those to come are like those returned; 0 where that
  /// cannot be said (a pipe, an empty file).
  [[nodiscard]] std::size_t estimated_row_count() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* gzip_file) const;
  };
  void fill();
  std::string_view take(std::size_t length, std::size_t skipped);

  std::string path_;
  std::unique_ptr<void, Close> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // first byte not yet returned
  std::size_t end_ = 0;    // end of the bytes read
  std::size_t row_ = 0;
  std::size_t filled_bytes_ = 0;    // unpacked so far
  std::size_t returned_bytes_ = 0;  // of these, in lines returned
  bool at_end_ = false;
};
}  // namespace drey::trainer
