// zstd_test.cpp: DBN within zstd frames, whole, several, cut off and damaged.
// SPDX-License-Identifier: MIT
#include "trainer/data/zstd_frames.hpp"

#include <gtest/gtest.h>

#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/dbn_files.hpp"
#include "trainer/data/dbn_reader.hpp"
#include "trainer/data/fault_text.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kCutOff =
    "FILE: expected the end of the zstd data, found the end of the file: it is cut off";

std::string fault_of(std::string_view bytes) {
  const TemporaryFile file(bytes, "bars.dbn.zst");
  return fault_text(file.path(), [&] { return read_dbn(file.path()); });
}

std::size_t bars_in(std::string_view bytes) {
  const TemporaryFile file(bytes, "bars.dbn.zst");
  return read_dbn(file.path()).bars.size();
}

TEST(Zstd, OneFrameIsUnpacked) {
  EXPECT_EQ(bars_in(zstd_packed(dbn_head() + dbn_minutes(3'000))), 3'000u);
}

TEST(Zstd, FramesFollowEachOtherWhereverTheyWereCut) {
  const std::string text = dbn_head() + dbn_minutes(50);
  for (std::size_t cut = 1; cut < text.size(); cut += 97) {
    const std::string frames =
        zstd_packed(text.substr(0, cut)) + zstd_packed("") + zstd_packed(text.substr(cut));
    EXPECT_EQ(bars_in(frames), 50u) << cut;
  }
}

TEST(Zstd, AFrameToBeSkippedIs) {
  const std::string skippable = "\x5A\x2A\x4D\x18" + little_endian(6, 4) + "words!";
  EXPECT_EQ(bars_in(skippable + zstd_packed(dbn_head() + dbn_minutes(3))), 3u);
}

TEST(Zstd, AFragmentHasRecordsOnly) {
  EXPECT_EQ(bars_in(zstd_packed(dbn_minutes(4))), 4u);
}

TEST(Zstd, AFrameThatIsCutOffAnywhereIsAFault) {
  const std::string packed = zstd_packed(dbn_head() + dbn_minutes(200));
  for (std::size_t size = 4; size < packed.size(); size += 1 + packed.size() / 150)
    EXPECT_EQ(fault_of(packed.substr(0, size)), kCutOff) << size << " of " << packed.size();
  EXPECT_EQ(fault_of(packed.substr(0, packed.size() - 1)), kCutOff);
}

TEST(Zstd, DamageAndBytesBehindTheFrameAreFaults) {
  const std::string packed = zstd_packed(dbn_head() + dbn_minutes(200));
  const std::string fault = fault_of(packed + "and more");
  EXPECT_TRUE(fault.starts_with("FILE: expected sound zstd data, found damage (")) << fault;
  std::string damaged = packed;
  damaged[5] = static_cast<char>(damaged[5] ^ 0x55);
  EXPECT_NE(fault_of(damaged), "no error");
}

TEST(Zstd, OtherDataWithinIsNamed) {
  EXPECT_EQ(fault_of(zstd_packed("timestamp,open,high,low,close,volume\n")),
            "FILE: expected DBN data: 'DBN' and a version, or a record, found 'timestam'");
}
}  // namespace
}  // namespace drey::trainer
