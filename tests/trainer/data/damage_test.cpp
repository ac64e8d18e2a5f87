// damage_test.cpp: files of every format, cut, changed, grown and joined at random: reading ends with
// bars that keep their promises, or with one line; never otherwise. Run under the sanitizers too.
// Method: each round damages a sound file by a few seeded operations; DREY_TEST_SEED repeats a run.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "support/seed.hpp"
#include "trainer/data/bar_file.hpp"
#include "trainer/data/bar_files.hpp"
#include "trainer/data/bar_rules.hpp"
#include "trainer/data/dbn_files.hpp"
#include "trainer/data/error.hpp"
#include "trainer/data/parquet_files.hpp"
#include "trainer/data/read_bars.hpp"
#include "trainer/data/synthetic_bars.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
using test::Random;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string csv_text(std::size_t rows) {
  std::string text(kHeader);
  for (const Bar& bar : synthetic_bars(rows, 9).bars) {
    text += format_time(bar.timestamp_ns);
    for (const std::string& value : value_texts(bar)) text.append(",").append(value);
    text += '\n';
  }
  return text;
}

std::size_t place_in(Random& random, const std::string& bytes) {
  // Half of the time near the front, where headers are.
  const std::size_t size = bytes.size() + 1;
  return random.below(2) == 0 ? random.below(size) : random.below(std::min<std::size_t>(size, 160));
}

void damage_once(Random& random, std::string& bytes) {
  const std::size_t place = place_in(random, bytes);
  switch (random.below(6)) {
    case 0:
      bytes.resize(place);
      return;
    case 1:
      bytes.insert(place, 1 + random.below(9), static_cast<char>(random.next()));
      return;
    case 2:
      bytes.erase(place, 1 + random.below(70));
      return;
    case 3:  // a number that is as large as it can be, or as small
      for (std::size_t i = place; i < std::min(bytes.size(), place + 4); ++i)
        bytes[i] = static_cast<char>(random.below(2) == 0 ? 0xFF : 0x00);
      return;
    case 4:
      bytes += bytes.substr(place);
      return;
    default:
      if (place < bytes.size())
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
  }
}

void require_promises(const BarSeries& series) {
  ASSERT_FALSE(series.bars.empty());
  for (std::size_t i = 0; i < series.bars.size(); ++i) {
    ASSERT_TRUE(is_sound(series.bars[i])) << i;
    ASSERT_TRUE(i == 0 || series.bars[i - 1].timestamp_ns < series.bars[i].timestamp_ns) << i;
  }
}

/// Returns: how many of the damaged files were read all the same.
std::size_t read_damaged(const std::string& sound, const std::string& name, std::size_t rounds) {
  Random random(test::test_seed(20'240'102));
  std::size_t read_count = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::string bytes = sound;
    for (std::size_t count = 1 + random.below(3); count != 0; --count) damage_once(random, bytes);
    if (bytes == sound) continue;  // a cut at the end, or the value that was there
    const TemporaryFile file(bytes, name);
    try {
      require_promises(read_bars(file.path()));
      ++read_count;
    } catch (const DataError& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(file.path())) << text;
      for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~') << round << ": " << text;
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "round " << round;
      return read_count;
    }
  }
  std::printf("%s: %zu of %zu were read\n", name.c_str(), read_count, rounds);
  return read_count;
}

TEST(Damage, OfTextIsNeverMoreThanALine) {
  EXPECT_GT(read_damaged(csv_text(60), "x.csv", test::scaled(600)), 0u);
}

TEST(Damage, OfGzipIsNeverMoreThanALine) {
  read_damaged(gzipped(csv_text(200)), "x.csv.gz", test::scaled(400));
}

TEST(Damage, OfDbnIsNeverMoreThanALine) {
  for (const unsigned version : {1u, 2u, 3u})
    EXPECT_GT(
        read_damaged(dbn_head({.version = version}) + dbn_minutes(20), "x.dbn", test::scaled(300)),
        0u);
}

TEST(Damage, OfBarFilesIsNeverMoreThanALine) {
  BarSeries series = synthetic_bars(20, 9);
  series.instrument = "ESH4";
  const std::string sound = bar_file_header(series) + std::string(bar_bytes(series));
  EXPECT_EQ(read_damaged(sound, "x.bars", test::scaled(400)), 0u) << "checksums see everything";
}

TEST(Damage, OfParquetIsNeverMoreThanALine) {
  const std::string reason = why_no_duckdb();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const ParquetFile sound(three_bars("t AS timestamp", ", s AS symbol"));
  read_damaged(bytes_of(sound.path()), "x.parquet", test::scaled(25));
}
}  // namespace
}  // namespace drey::trainer
