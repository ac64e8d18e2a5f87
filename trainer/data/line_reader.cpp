// line_reader.cpp: zlib does both forms: it reads plain files as they are.
// Invariant: begin_ <= end_ <= buffer_.size().
// SPDX-License-Identifier: MIT
#include "trainer/data/line_reader.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kBufferBytes = 262'144;

gzFile as_gzip(void* file) {
  return static_cast<gzFile>(file);
}

[[noreturn]] void throw_read_error(const std::string& path, std::size_t row, gzFile file) {
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  if (code == Z_BUF_ERROR)
    throw_data_error({path, row}, "the end of the gzip data", "the end of the file: it is cut off");
  if (code == Z_ERRNO)
    throw_data_error({path, row}, "a readable file", std::generic_category().message(errno));
  // zlib puts the file's name before its own words.
  std::string_view reason(text);
  if (reason.starts_with(path + ": ")) reason.remove_prefix(path.size() + 2);
  throw_data_error({path, row}, "sound gzip data", "damage (" + std::string(reason) + ")");
}
}  // namespace

void LineReader::Close::operator()(void* gzip_file) const {
  gzclose_r(as_gzip(gzip_file));
}

LineReader::LineReader(std::string path) : path_(std::move(path)), buffer_(kBufferBytes) {
  require_file(path_);
  errno = 0;
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_) throw_data_error({path_}, "a readable file", std::generic_category().message(errno));
  gzbuffer(as_gzip(file_.get()), 128 * 1024);
  fill();
  const bool plain = gzdirect(as_gzip(file_.get())) != 0;
  if (plain && end_ != 0 && path_.ends_with(".gz"))
    throw_data_error({path_}, "gzip data, as the name ends in .gz", "other data");
  if (end_ >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) begin_ = 3;
}

// Moves the bytes not yet returned to the front and reads as many as fit behind them.
void LineReader::fill() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  gzFile file = as_gzip(file_.get());
  const int count =
      gzread(file, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  if (count < 0) throw_read_error(path_, row_ + 1, file);
  end_ += static_cast<std::size_t>(count);
  filled_bytes_ += static_cast<std::size_t>(count);
  if (count != 0) return;
  // A gzip file that was cut inside its data ends without an error from gzread.
  int code = Z_OK;
  gzerror(file, &code);
  if (code != Z_OK) throw_read_error(path_, row_ + 1, file);
  at_end_ = true;
}

std::string_view LineReader::take(std::size_t length, std::size_t skipped) {
  std::string_view line(buffer_.data() + begin_, length);
  begin_ += length + skipped;
  returned_bytes_ += length + skipped;
  ++row_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t LineReader::estimated_row_count() const {
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(path_, error);
  gzFile file = as_gzip(file_.get());
  const auto packed_bytes = gzoffset(file);
  if (error || packed_bytes <= 0 || returned_bytes_ == 0) return 0;
  auto unpacked_bytes = static_cast<double>(file_bytes);
  if (gzdirect(file) == 0)
    unpacked_bytes *= static_cast<double>(filled_bytes_) / static_cast<double>(packed_bytes);
  return static_cast<std::size_t>(static_cast<double>(row_) * unpacked_bytes /
                                  static_cast<double>(returned_bytes_));
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t present = end_ - begin_;
    const void* newline = std::memchr(start + searched, '\n', present - searched);
    if (newline != nullptr) {
      line = take(static_cast<std::size_t>(static_cast<const char*>(newline) - start), 1);
      return true;
    }
    if (at_end_) {
      if (present == 0) return false;
      line = take(present, 0);
      return true;
    }
    if (present == buffer_.size())
      throw_data_error({path_, row_ + 1}, "a line of less than 262144 bytes", "a longer one");
    searched = present;
    fill();
  }
}
}  // namespace drey::trainer
