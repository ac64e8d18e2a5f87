// dbn_faults_test.cpp: every fault of a DBN file is one line that names file, record, column,
// expected and found.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/dbn_files.hpp"
#include "trainer/data/dbn_reader.hpp"
#include "trainer/data/fault_text.hpp"

namespace drey::trainer {
namespace {
std::string fault_of(std::string_view bytes, const ReadOptions& options = {}) {
  const TemporaryFile file(bytes, "bars.dbn");
  return fault_text(file.path(), [&] { return read_dbn(file.path(), options); });
}

/// `bytes` with the number of `size` bytes at `offset` replaced.
std::string with(std::string bytes, std::size_t offset, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<char>(number >> (8 * i));
  return bytes;
}

TEST(DbnFaults, DataThatIsNoDbnIsNamed) {
  EXPECT_EQ(fault_of(""), "FILE: expected DBN data, found an empty file");
  EXPECT_EQ(fault_of("DBN"),
            "FILE: expected DBN data: 'DBN' and a version, or a record, found 'DBN'");
  EXPECT_EQ(fault_of("timestamp,open,high"),
            "FILE: expected DBN data: 'DBN' and a version, or a record, found 'timestam'");
}

TEST(DbnFaults, OtherVersionsAreNamed) {
  const std::string bytes = dbn_head() + dbn_minutes(1);
  EXPECT_EQ(fault_of(with(bytes, 3, 0, 1)),
            "FILE: expected DBN of version 1, 2 or 3, found version 0");
  EXPECT_EQ(fault_of(with(bytes, 3, 4, 1)),
            "FILE: expected DBN of version 1, 2 or 3, found version 4");
}

TEST(DbnFaults, LegacyDbzIsNamed) {
  const std::string frame = "\x50\x2A\x4D\x18" + little_endian(4, 4) + "DBZ\x01";
  EXPECT_EQ(fault_of(frame + std::string(40, 'x')),
            "FILE: expected DBN of version 1, 2 or 3, found legacy DBZ: Databento's 'dbn' program "
            "converts it");
}

TEST(DbnFaults, ALengthOfMetadataThatCannotBeIsNamed) {
  const std::string bytes = dbn_head() + dbn_minutes(1);
  EXPECT_EQ(fault_of(with(bytes, 4, 99, 4)),
            "FILE: expected DBN metadata of 100 bytes or more, found 99");
  EXPECT_EQ(fault_of(with(bytes, 4, 100'000, 4)),
            "FILE: expected DBN metadata of 100000 bytes, found the end of the file after " +
                std::to_string(bytes.size() - 8) + " of them");
  EXPECT_EQ(fault_of(with(bytes, 4, 0xFFFFFFFF, 4)),
            "FILE: expected DBN metadata of 4294967295 bytes, found the end of the file after " +
                std::to_string(bytes.size() - 8) + " of them");
}

TEST(DbnFaults, ListsThatGoPastTheMetadataAreNamed) {
  const std::string bytes = dbn_head() + dbn_minutes(1);
  const std::string within = " within the metadata of " + std::to_string(dbn_head().size() - 8) +
                             " bytes, found one that goes past its end";
  EXPECT_EQ(fault_of(with(bytes, 108, 1'000'000, 4)),
            "FILE: expected a schema definition" + within);
  EXPECT_EQ(fault_of(with(bytes, 112, 0xFFFFFFFF, 4)), "FILE: expected a list of symbols" + within);
  const std::size_t mappings = dbn_head().size() - (71 + 4 + 4 + 4 + 71) - 4;
  EXPECT_EQ(fault_of(with(bytes, mappings, 0xFFFFFFFF, 4)),
            "FILE: expected a symbol mapping" + within);
  EXPECT_EQ(fault_of(with(bytes, mappings + 4 + 71, 0xFFFFFFFF, 4)),
            "FILE: expected a symbol mapping" + within);
  EXPECT_EQ(fault_of(with(bytes, 53, 0, 2)), "FILE: expected symbols of 1 byte or more, found 0");
}

TEST(DbnFaults, ASchemaWithoutBarsIsNamed) {
  EXPECT_EQ(fault_of(dbn_head({.schema = 0}) + dbn_minutes(1)),
            "FILE: expected a schema of bars (ohlcv-1s, -1m, -1h, -1d or -eod), found mbo");
  EXPECT_EQ(fault_of(dbn_head({.schema = 77}) + dbn_minutes(1)),
            "FILE: expected a schema of bars (ohlcv-1s, -1m, -1h, -1d or -eod), found number 77");
}

TEST(DbnFaults, ARecordOfNoSoundLengthIsNamed) {
  const std::string head = dbn_head() + dbn_minutes(1);
  EXPECT_EQ(fault_of(head + with(dbn_record({}), 0, 0, 1)),
            "FILE: row 2, column 'length': expected 16 bytes or more, found 0");
  EXPECT_EQ(fault_of(head + with(dbn_record({}), 0, 3, 1)),
            "FILE: row 2, column 'length': expected 16 bytes or more, found 12");
  EXPECT_EQ(fault_of(head + with(dbn_record({}), 0, 13, 1)),
            "FILE: row 2, column 'length': expected 56 bytes or more of a bar, found 52");
}

TEST(DbnFaults, ARecordThatIsCutOffIsNamed) {
  const std::string record = dbn_record({.time_ns = kDbnFirstNs + 1});
  for (std::size_t size = 1; size < record.size(); ++size)
    EXPECT_EQ(fault_of(dbn_head() + dbn_minutes(1) + record.substr(0, size)),
              "FILE: row 2: expected a record of 56 bytes, found the end of the file after " +
                  std::to_string(size));
}

TEST(DbnFaults, BytesBehindTheRecordsAreNamed) {
  EXPECT_EQ(fault_of(dbn_head() + dbn_minutes(2) + std::string(5, '\0')),
            "FILE: row 3, column 'length': expected 16 bytes or more, found 0");
}

TEST(DbnFaults, AValueAgainstTheRulesIsNamed) {
  const auto fault = [](const DbnBar& bar) { return fault_of(dbn_head() + dbn_record(bar)); };
  EXPECT_EQ(fault({.close = kDbnUndefined}),
            "FILE: row 1, column 'close': expected a price, found an undefined one");
  EXPECT_EQ(fault({.high = 500'000'000}),
            "FILE: row 1, column 'high': expected high >= low = 1, found '0.5'");
  EXPECT_EQ(fault({.open = 2'500'000'000}),
            "FILE: row 1, column 'open': expected a price from low = 1 to high = 2, found '2.5'");
  EXPECT_EQ(fault({.low = 0}), "FILE: row 1, column 'low': expected a price above 0, found '0'");
  EXPECT_EQ(fault({.volume = ~std::uint64_t{0}}),
            "FILE: row 1, column 'volume': expected a volume up to 1e18, found "
            "'18446744073709551616'");
  EXPECT_EQ(fault({.time_ns = ~std::uint64_t{0}}),
            "FILE: row 1, column 'ts_event': expected a time, found an undefined one");
  EXPECT_EQ(fault({.time_ns = ~std::uint64_t{1}}),
            "FILE: row 1, column 'ts_event': expected a time, found 18446744073709551614");
}

TEST(DbnFaults, TimeMustGoOn) {
  EXPECT_EQ(
      fault_of(dbn_head() + dbn_record({}) + dbn_record({.time_ns = kDbnFirstNs - 1'000'000'000})),
      "FILE: row 2, column 'ts_event': expected a time after 2024-01-02T14:30:00Z, found an "
      "earlier time: '2024-01-02T14:29:59Z'");
  EXPECT_EQ(fault_of(dbn_head() + dbn_record({}) + dbn_record({})),
            "FILE: row 2, column 'ts_event': expected a time after 2024-01-02T14:30:00Z, found the "
            "same time again: '2024-01-02T14:30:00Z'");
}

TEST(DbnFaults, BarsOfTwoLengthsAreNamed) {
  EXPECT_EQ(fault_of(dbn_head({.schema = 0xFFFF}) + dbn_record({.kind = 0x20}) +
                     dbn_record({.time_ns = kDbnFirstNs + 1, .kind = 0x23})),
            "FILE: row 2, column 'rtype': expected bars of 1 s as before, found bars of 1 d");
}

TEST(DbnFaults, TwoInstrumentsWithoutAFilterAreNamed) {
  const std::string head = dbn_head({.symbols = {{"ESH4", "17"}, {"NQH4", "18"}}});
  const std::string several =
      "column 'instrument_id': expected one instrument, or a symbol to select, found 2: ESH4, NQH4";
  EXPECT_EQ(fault_of(head + dbn_record({}) + dbn_record({.id = 18})), "FILE: row 2, " + several);
  // In turn is no better than at the same time: a roll is chosen by whoever knows the contracts.
  EXPECT_EQ(fault_of(head + dbn_record({}) + dbn_record({.time_ns = kDbnFirstNs + 1, .id = 18})),
            "FILE: row 2, " + several);
  EXPECT_EQ(fault_of(head + dbn_record({}), {.symbol = "NQH4"}),
            "FILE: column 'instrument_id': expected rows of 'NQH4', found only ESH4");
}

TEST(DbnFaults, NoBarsAreAFault) {
  EXPECT_EQ(fault_of(dbn_head()), "FILE: expected bars, found no records");
  EXPECT_EQ(fault_of(dbn_head({.schema = 0xFFFF}) + dbn_record({.kind = 0x12})),
            "FILE: expected bars, found 1 records, none of them a bar");
}
}  // namespace
}  // namespace drey::trainer
