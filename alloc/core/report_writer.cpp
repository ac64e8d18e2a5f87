// report_writer.cpp: see report_writer.hpp.
// SPDX-License-Identifier: MIT
#include "core/report_writer.hpp"

#include "os/file.hpp"

#include <drey/base/assert.hpp>

namespace drey::core {
ReportWriter::ReportWriter(char* buffer, std::size_t size) noexcept
    : buffer_(buffer), size_(size), descriptor_(kNoFile) {
  if (size_ != 0) buffer_[0] = '\0';
}

ReportWriter::ReportWriter(int descriptor) noexcept
    : buffer_(own_), size_(kOwnBytes), descriptor_(descriptor) {}

void ReportWriter::put(char character) noexcept {
  ++length_;
  if (descriptor_ == kNoFile) {
    if (used_ + 1 >= size_) return;
    buffer_[used_++] = character;
    buffer_[used_] = '\0';
    return;
  }
  buffer_[used_++] = character;
  if (used_ == size_) static_cast<void>(finish());
}

int ReportWriter::finish() noexcept {
  if (descriptor_ == kNoFile) return 0;
  if (error_ == 0) error_ = os::write_all(descriptor_, buffer_, used_);
  used_ = 0;
  return error_;
}

ReportWriter& ReportWriter::append_file(const char* path) noexcept {
  DREY_ASSERT(descriptor_ != kNoFile);
  if (finish() == 0) error_ = os::append_file(descriptor_, path);
  return *this;
}

ReportWriter& ReportWriter::add(const char* text) noexcept {
  while (*text != '\0') put(*text++);
  return *this;
}

ReportWriter& ReportWriter::add_signed(std::int64_t value) noexcept {
  if (value >= 0) return add(static_cast<std::uint64_t>(value));
  put('-');
  return add(~static_cast<std::uint64_t>(value) + 1);
}

ReportWriter& ReportWriter::add_bytes(std::uint64_t bytes) noexcept {
  constexpr const char* kSuffixes[] = {"", "K", "M", "G", "T"};
  std::size_t step = 0;
  while (step < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++step;
  }
  return add(bytes).add(kSuffixes[step]);
}

ReportWriter& ReportWriter::add_percent(std::uint64_t part, std::uint64_t whole) noexcept {
  const double exact = static_cast<double>(part) * 1000.0 / static_cast<double>(whole);
  const std::uint64_t tenths = whole == 0 ? 0 : (static_cast<std::uint64_t>(2 * exact) + 1) / 2;
  return add(tenths / 10).add(".").add(tenths % 10);
}

ReportWriter& ReportWriter::add_right(std::uint64_t value, std::size_t width) noexcept {
  std::size_t digits = 1;
  for (std::uint64_t rest = value / 10; rest != 0; rest /= 10) ++digits;
  for (; digits < width; ++digits) put(' ');
  return add(value);
}

ReportWriter& ReportWriter::add_left(const char* text, std::size_t width) noexcept {
  const std::size_t start = length_;
  add(text);
  while (length_ - start < width) put(' ');
  return *this;
}

ReportWriter& ReportWriter::add_quoted(const char* text, std::size_t length_max) noexcept {
  for (std::size_t index = 0; text[index] != '\0'; ++index) {
    if (index == length_max) return add("...");
    const auto byte = static_cast<unsigned char>(text[index]);
    put(byte < 0x20 || byte == 0x7f ? '?' : text[index]);
  }
  return *this;
}

ReportWriter& ReportWriter::add_digits(std::uint64_t value, unsigned base, int width_min) noexcept {
  char reversed[24];
  int count = 0;
  while (value != 0 || count < width_min) {
    reversed[count++] = "0123456789abcdef"[value % base];
    value /= base;
  }
  while (count > 0) put(reversed[--count]);
  return *this;
}
}  // namespace drey::core
