// dbn_reader_test.cpp: bars out of DBN files of every version, and which instrument they are of.
// SPDX-License-Identifier: MIT
#include "trainer/data/dbn_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/dbn_files.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
BarSeries read_bytes(std::string_view bytes, const ReadOptions& options = {},
                     std::string_view name = "bars.dbn") {
  const TemporaryFile file(bytes, name);
  return read_dbn(file.path(), options);
}

const DbnHead kTwoSymbols = {.symbols = {{"ESH4", "17"}, {"NQH4", "18"}}};

std::string two_instruments() {
  std::string bytes;
  for (std::size_t i = 0; i < 3; ++i) {
    bytes += dbn_record({.time_ns = kDbnFirstNs + i * kDbnMinuteNs, .id = 17, .volume = 1});
    bytes += dbn_record({.time_ns = kDbnFirstNs + i * kDbnMinuteNs, .id = 18, .volume = 2});
  }
  return bytes;
}

TEST(Dbn, EveryVersionGivesTheSameBars) {
  for (const unsigned version : {1u, 2u, 3u}) {
    const BarSeries series = read_bytes(dbn_head({.version = version}) + dbn_minutes(3));
    ASSERT_EQ(series.bars.size(), 3u) << version;
    EXPECT_EQ(series.bars[2], (Bar{static_cast<std::int64_t>(kDbnFirstNs + 2 * kDbnMinuteNs), 1.5,
                                   2.0, 1.0, 1.75, 2.0}))
        << version;
    EXPECT_EQ(series.instrument, "ESH4") << version;
  }
}

TEST(Dbn, PaddingOfTheMetadataIsPassedOver) {
  for (std::size_t padding = 0; padding < 8; ++padding)
    EXPECT_EQ(read_bytes(dbn_head({.padding_bytes = padding}) + dbn_minutes(2)).bars.size(), 2u);
}

TEST(Dbn, PricesAreTakenAsTheyStand) {
  // Databento's own samples are a hundred times too big: a reader that knows better would be wrong.
  const std::uint64_t price = 372'150'000'000'000;
  const BarSeries series = read_bytes(
      dbn_head() + dbn_record({.open = price, .high = price, .low = price, .close = price}));
  EXPECT_EQ(series.bars.at(0).close, 372'150.0);
}

TEST(Dbn, ATimeOfSendingBehindABarIsPassedOver) {
  const std::string bytes = dbn_record({.words = 16}) +
                            dbn_record({.time_ns = kDbnFirstNs + 1, .volume = 7, .words = 16});
  EXPECT_EQ(read_bytes(dbn_head() + bytes).bars.at(1).volume, 7.0);
}

TEST(Dbn, RecordsOfOtherKindsAreSkippedByTheirLength) {
  const std::string other = dbn_record({.kind = 0x17, .words = 80});
  const std::string unknown = dbn_record({.kind = 0x77, .words = 255});
  const BarSeries series = read_bytes(dbn_head({.schema = 0xFFFF}) + other + dbn_record({}) +
                                      unknown + dbn_record({.time_ns = kDbnFirstNs + 1}));
  EXPECT_EQ(series.bars.size(), 2u);
}

TEST(Dbn, OneInstrumentOfSeveralIsSelectedByNameOrNumber) {
  const std::string bytes = dbn_head(kTwoSymbols) + two_instruments();
  for (const char* const symbol : {"NQH4", "18"}) {
    const BarSeries series = read_bytes(bytes, {.symbol = symbol});
    ASSERT_EQ(series.bars.size(), 3u) << symbol;
    EXPECT_EQ(series.bars[0].volume, 2.0) << symbol;
    EXPECT_EQ(series.instrument, symbol);
  }
}

TEST(Dbn, AContinuousSymbolIsOneInstrumentThoughItsNumberChanges) {
  const DbnHead head = {.symbols = {{"ES.c.0", "17", 20'240'101, 20'240'103},
                                    {"ES.c.0", "18", 20'240'103, 20'250'101}}};
  const std::string roll =
      dbn_minutes(2) + dbn_record({.time_ns = kDbnFirstNs + 1440 * kDbnMinuteNs, .id = 18});
  const BarSeries series = read_bytes(dbn_head(head) + roll);
  EXPECT_EQ(series.bars.size(), 3u);
  EXPECT_EQ(series.instrument, "ES.c.0");
}

TEST(Dbn, ANumberThatIsUsedAgainNamesTheSymbolOfItsDay) {
  const DbnHead head = {
      .symbols = {{"OLD", "17", 20'200'101, 20'240'101}, {"NEW", "17", 20'240'101, 20'250'101}}};
  EXPECT_EQ(read_bytes(dbn_head(head) + dbn_minutes(2)).instrument, "NEW");
}

TEST(Dbn, AnInstrumentWithoutAMappingIsNamedByItsNumber) {
  EXPECT_EQ(read_bytes(dbn_head({.symbols = {}}) + dbn_minutes(2)).instrument, "17");
}

TEST(Dbn, AFragmentHasRecordsOnly) {
  const BarSeries series = read_bytes(dbn_minutes(5), {}, "bars.dbn.frag");
  EXPECT_EQ(series.bars.size(), 5u);
  EXPECT_EQ(series.instrument, "17");
}

TEST(Dbn, MoreRecordsThanTheBufferHoldsKeepTheirOrder) {
  constexpr std::size_t kCount = 5'000;  // 280,000 bytes, behind metadata of odd length
  const BarSeries series = read_bytes(dbn_head({.padding_bytes = 3}) + dbn_minutes(kCount));
  ASSERT_EQ(series.bars.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(series.bars[i].volume, static_cast<double>(i));
}
}  // namespace
}  // namespace drey::trainer
