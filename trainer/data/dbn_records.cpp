// dbn_records.cpp: see dbn_records.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/dbn_records.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kBufferBytes = 65'536;
constexpr std::size_t kRecordBytesMax = std::size_t{255} * 4;
static_assert(kBufferBytes > kRecordBytesMax);
}  // namespace

DbnRecords::DbnRecords(std::string path, std::unique_ptr<ByteSource> source, std::string_view front)
    : path_(std::move(path)), source_(std::move(source)), buffer_(kBufferBytes) {
  std::copy(front.begin(), front.end(), buffer_.begin());
  end_ = front.size();
}

// Moves what is left to the front and reads as many bytes as fit behind it.
void DbnRecords::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  end_ += source_->read({buffer_.data() + end_, buffer_.size() - end_});
}

bool DbnRecords::next(std::string_view& record) {
  if (end_ - begin_ < kRecordBytesMax) fill();
  const std::size_t present = end_ - begin_;
  if (present == 0) return false;
  ++row_;
  const std::size_t length = std::size_t{static_cast<unsigned char>(buffer_[begin_])} * 4;
  if (length < kDbnHeaderBytes)
    throw_data_error({path_, row_, "length"}, "16 bytes or more", std::to_string(length));
  if (length > present)
    throw_data_error({path_, row_}, "a record of " + std::to_string(length) + " bytes",
                     "the end of the file after " + std::to_string(present));
  record = {buffer_.data() + begin_, length};
  begin_ += length;
  return true;
}
}  // namespace drey::trainer
