// bar_file.cpp: see bar_file.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include "trainer/data/bar_rules.hpp"
#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;  // kByteOrderMark as the writing machine stores it
  std::uint32_t header_bytes;
  std::uint32_t bar_bytes;
  std::uint64_t bar_count;
  std::uint32_t bars_crc32;
  std::uint32_t flags;  // 0
  std::array<char, kInstrumentBytesMax + 1> instrument;
  std::array<char, 20> zeros;
  std::uint32_t header_crc32;  // of all that stands before it
};
constexpr std::size_t kHeaderBytes = 128;
static_assert(sizeof(Header) == kHeaderBytes && std::is_trivially_copyable_v<Header>);
static_assert(kHeaderBytes % alignof(Bar) == 0, "a mapped file's bars are aligned");

std::uint32_t crc32_of(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const Bytef*>(bytes), size));
}

std::uint32_t crc32_of(const Header& header) {
  return crc32_of(&header, offsetof(Header, header_crc32));
}

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + " bytes";
}

std::string hex_text(std::uint32_t number) {
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(number >> shift) & 15];
  return text;
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};
}  // namespace

MappedBars::MappedBars(std::string path) : path_(std::move(path)) {
  require_file(path_);
  const Descriptor file(path_);
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0)
    throw_data_error({path_}, "a readable file", std::generic_category().message(errno));
  size_ = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size_ < kHeaderBytes)
    throw_data_error({path_}, "a bar file of " + bytes_text(kHeaderBytes) + " or more",
                     bytes_text(size_));
  start_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (start_ == MAP_FAILED)
    throw_data_error({path_}, "a file to map", std::generic_category().message(errno));
  try {
    check();
  } catch (...) {
    ::munmap(start_, size_);
    throw;
  }
}

MappedBars::~MappedBars() {
  ::munmap(start_, size_);
}

void MappedBars::check() {
  check_header();
  check_bars();
}

void MappedBars::check_header() {
  Header header;
  std::memcpy(&header, start_, sizeof(header));
  const auto refuse = [this](std::string_view expected, std::string_view found) {
    throw_data_error({path_}, expected, found);
  };
  if (std::string_view(header.magic.data(), header.magic.size()) != kBarFileMagic)
    refuse("a bar file", quoted({header.magic.data(), header.magic.size()}) + " at its beginning");
  if (header.byte_order != kByteOrderMark)
    refuse("this machine's byte order", "another: convert the bars on this machine");
  if (header.version != kBarFileVersion)
    refuse("a bar file of version " + std::to_string(kBarFileVersion),
           "version " + std::to_string(header.version));
  if (header.header_crc32 != crc32_of(header))
    refuse("a header of checksum " + hex_text(header.header_crc32), hex_text(crc32_of(header)));
  if (header.header_bytes != kHeaderBytes || header.bar_bytes != sizeof(Bar) || header.flags != 0)
    refuse("a header of 128 bytes and bars of 48",
           std::to_string(header.header_bytes) + " and " + std::to_string(header.bar_bytes));
  const std::size_t present = (size_ - kHeaderBytes) / sizeof(Bar);
  const bool is_whole = size_ == kHeaderBytes + present * sizeof(Bar);
  if (header.bar_count != present || !is_whole)
    refuse(std::to_string(header.bar_count) + " bars of 48 bytes after the header",
           bytes_text(size_ - kHeaderBytes));
  if (present == 0) refuse("bars", "none");
  const char* const first = static_cast<const char*>(start_) + kHeaderBytes;
  bars_ = {reinterpret_cast<const Bar*>(first), present};
  const std::uint32_t crc32 = crc32_of(first, bars_.size_bytes());
  if (crc32 != header.bars_crc32)
    refuse("bars of checksum " + hex_text(header.bars_crc32), hex_text(crc32) + ": damage");
  const auto name_end = std::find(header.instrument.begin(), header.instrument.end() - 1, '\0');
  instrument_.assign(header.instrument.begin(), name_end);
}

void MappedBars::check_bars() const {
  const Bar* last = nullptr;
  for (const Bar& bar : bars_) {
    const auto row = static_cast<std::size_t>(&bar - bars_.data()) + 1;
    if (!is_sound(bar)) throw_unsound(bar, {path_, row}, value_texts(bar));
    if (!scaled_time(bar.timestamp_ns, 1) ||
        (last != nullptr && bar.timestamp_ns <= last->timestamp_ns))
      throw_data_error(
          {path_, row, "timestamp"},
          last == nullptr ? "a time" : "a time after " + format_time(last->timestamp_ns),
          std::to_string(bar.timestamp_ns) + " ns");
    last = &bar;
  }
}

BarSeries read_bar_file(const std::string& path, const ReadOptions& options) {
  const MappedBars mapped(path);
  if (!options.symbol.empty() && options.symbol != mapped.instrument())
    throw_data_error({path}, "bars of " + quoted(options.symbol),
                     mapped.instrument().empty() ? "bars of an instrument it does not name"
                                                 : "bars of " + quoted(mapped.instrument()));
  return {path, {mapped.bars().begin(), mapped.bars().end()}, mapped.instrument()};
}

std::string bar_file_header(const BarSeries& series) {
  if (series.instrument.size() > kInstrumentBytesMax)
    throw_data_error({series.source}, "an instrument's name of 63 bytes or less",
                     quoted(series.instrument));
  Header header{};
  std::copy(kBarFileMagic.begin(), kBarFileMagic.end(), header.magic.begin());
  header.version = kBarFileVersion;
  header.byte_order = kByteOrderMark;
  header.header_bytes = kHeaderBytes;
  header.bar_bytes = sizeof(Bar);
  header.bar_count = series.bars.size();
  const std::string_view bars = bar_bytes(series);
  header.bars_crc32 = crc32_of(bars.data(), bars.size());
  std::copy(series.instrument.begin(), series.instrument.end(), header.instrument.begin());
  header.header_crc32 = crc32_of(header);
  std::string bytes(kHeaderBytes, '\0');
  std::memcpy(bytes.data(), &header, kHeaderBytes);
  return bytes;
}

std::string_view bar_bytes(const BarSeries& series) noexcept {
  return {reinterpret_cast<const char*>(series.bars.data()), series.bars.size() * sizeof(Bar)};
}
}  // namespace drey::trainer
