// dbn_records.hpp: the records of a DBN file one after the other.
// Invariants: begin_ <= end_ <= buffer_.size(); a record returned is whole, and 16 bytes at least.
// Read next: dbn_reader.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/byte_source.hpp"

namespace drey::trainer {
inline constexpr std::size_t kDbnHeaderBytes = 16;

class DbnRecords {
 public:
  /// `front` are bytes already taken from `source`.
  DbnRecords(std::string path, std::unique_ptr<ByteSource> source, std::string_view front);

  /// The next record; false at the end. It holds until the next call.
  /// Fails: DataError for a length that cannot be, and for a record that is cut off.
  [[nodiscard]] bool next(std::string_view& record);

  /// Number of the record last returned, from 1.
  [[nodiscard]] std::size_t row() const { return row_; }

 private:
  void fill();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t row_ = 0;
};
}  // namespace drey::trainer
