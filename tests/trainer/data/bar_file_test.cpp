// bar_file_test.cpp: bars to a file and back without a change, and every way in which such a file
// can be wrong.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_file.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <limits>
#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/fault_text.hpp"
#include "trainer/data/synthetic_bars.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kCrcOffset = 124;  // of the header

std::string file_of(const BarSeries& series) {
  return bar_file_header(series) + std::string(bar_bytes(series));
}

BarSeries some_bars(std::size_t count = 50) {
  BarSeries series = synthetic_bars(count, 3);
  series.instrument = "ESH4";
  return series;
}

std::string fault_of(std::string_view bytes, const ReadOptions& options = {}) {
  const TemporaryFile file(bytes, "x.bars");
  return fault_text(file.path(), [&] { return read_bar_file(file.path(), options); });
}

/// The file with the 4 bytes at `offset` replaced and the header's checksum made good again.
std::string with(std::string bytes, std::size_t offset, std::uint32_t number) {
  std::memcpy(bytes.data() + offset, &number, sizeof(number));
  const auto crc = static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), kCrcOffset));
  std::memcpy(bytes.data() + kCrcOffset, &crc, sizeof(crc));
  return bytes;
}

TEST(BarFile, BarsComeBackBitForBit) {
  const BarSeries series = some_bars(5'000);
  const TemporaryFile file(file_of(series), "x.bars");
  const BarSeries back = read_bar_file(file.path());
  EXPECT_EQ(back.bars, series.bars);
  EXPECT_EQ(back.instrument, "ESH4");
  EXPECT_EQ(back.source, file.path());
  EXPECT_EQ(std::filesystem::file_size(file.path()), 128 + 48 * 5'000u);
}

TEST(BarFile, AMappedFileIsReadWhereItLies) {
  const BarSeries series = some_bars();
  const TemporaryFile file(file_of(series), "x.bars");
  const MappedBars mapped(file.path());
  ASSERT_EQ(mapped.bars().size(), series.bars.size());
  EXPECT_EQ(mapped.bars().back(), series.bars.back());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.bars().data()) % 64, 0u) << "on a cache line";
}

TEST(BarFile, TheInstrumentIsCheckedAgainstTheOneAskedFor) {
  const std::string bytes = file_of(some_bars());
  EXPECT_EQ(fault_of(bytes, {.symbol = "ESH4"}), "no error");
  EXPECT_EQ(fault_of(bytes, {.symbol = "NQH4"}),
            "FILE: expected bars of 'NQH4', found bars of 'ESH4'");
  BarSeries nameless = some_bars();
  nameless.instrument.clear();
  EXPECT_EQ(fault_of(file_of(nameless), {.symbol = "NQH4"}),
            "FILE: expected bars of 'NQH4', found bars of an instrument it does not name");
}

TEST(BarFile, AFileOfAnotherLengthIsNamed) {
  const std::string bytes = file_of(some_bars());
  for (std::size_t size = 0; size < 128; ++size)
    EXPECT_EQ(
        fault_of(bytes.substr(0, size)),
        "FILE: expected a bar file of 128 bytes or more, found " + std::to_string(size) + " bytes");
  for (const std::size_t size :
       {std::size_t{128}, std::size_t{129}, bytes.size() - 48, bytes.size() - 1})
    EXPECT_EQ(fault_of(bytes.substr(0, size)),
              "FILE: expected 50 bars of 48 bytes after the header, found " +
                  std::to_string(size - 128) + " bytes");
  EXPECT_EQ(fault_of(bytes + "x"),
            "FILE: expected 50 bars of 48 bytes after the header, found 2401 bytes");
}

TEST(BarFile, AForeignHeaderIsNamed) {
  const std::string bytes = file_of(some_bars());
  EXPECT_EQ(fault_of("SEABOARD" + bytes.substr(8)),
            "FILE: expected a bar file, found 'SEABOARD' at its beginning");
  EXPECT_EQ(fault_of(with(bytes, 8, 2)), "FILE: expected a bar file of version 1, found version 2");
  EXPECT_EQ(fault_of(with(bytes, 12, 0x04030201)),
            "FILE: expected this machine's byte order, found another: convert the bars on this "
            "machine");
  EXPECT_EQ(fault_of(with(bytes, 20, 40)),
            "FILE: expected a header of 128 bytes and bars of 48, found 128 and 40");
  EXPECT_EQ(fault_of(with(bytes, 24, 49)),
            "FILE: expected 49 bars of 48 bytes after the header, found 2400 bytes");
  // A count whose product with 48 would wrap round.
  EXPECT_NE(fault_of(with(bytes, 28, 0x10000000)), "no error");
}

TEST(BarFile, AnyChangedByteIsNoticed) {
  const std::string bytes = file_of(some_bars());
  for (std::size_t i = 0; i < bytes.size(); i += (i < 128 ? 1 : 37)) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(fault_of(damaged), "no error") << "byte " << i;
  }
  std::string damaged = bytes;
  damaged[500] = static_cast<char>(damaged[500] ^ 1);
  const std::string fault = fault_of(damaged);
  EXPECT_TRUE(fault.starts_with("FILE: expected bars of checksum 0x")) << fault;
  EXPECT_TRUE(fault.ends_with(": damage")) << fault;
}

TEST(BarFile, BarsAgainstTheRulesAreNamedThoughTheirChecksumHolds) {
  BarSeries series = some_bars();
  series.bars[6].high = series.bars[6].low / 2;
  EXPECT_NE(fault_of(file_of(series)).find("FILE: row 7, column 'high': expected high >= low"),
            std::string::npos);
  series = some_bars();
  series.bars[6].volume = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(fault_of(file_of(series)),
            "FILE: row 7, column 'volume': expected a finite number, found 'nan'");
  series = some_bars();
  series.bars[6].timestamp_ns = series.bars[5].timestamp_ns;
  EXPECT_NE(
      fault_of(file_of(series)).find("FILE: row 7, column 'timestamp': expected a time after"),
      std::string::npos);
  series.bars.clear();
  EXPECT_EQ(fault_of(file_of(series)), "FILE: expected bars, found none");
}

TEST(BarFile, ANameThatIsTooLongIsRefusedBeforeAnythingIsWritten) {
  BarSeries series = some_bars();
  series.source = "x.csv";
  series.instrument.assign(63, 'N');
  EXPECT_EQ(fault_of(file_of(series)), "no error");
  series.instrument.assign(64, 'N');
  EXPECT_EQ(fault_text("x.csv", [&] { return bar_file_header(series); }),
            "FILE: expected an instrument's name of 63 bytes or less, found '" +
                std::string(40, 'N') + "...'");
}
}  // namespace
}  // namespace drey::trainer
