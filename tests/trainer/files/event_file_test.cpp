// event_file_test.cpp: what TensorBoard is given: records with the right checks, events with the
// right numbers, one file a run.
// SPDX-License-Identifier: MIT
#include "trainer/files/event_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <filesystem>

#include "trainer/data/error.hpp"
#include "trainer/dqn/temporary_folder.hpp"
#include "trainer/files/crc32c.hpp"
#include "trainer/files/event_records.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/files/protobuf_reader.hpp"

namespace drey::test {
namespace {
using namespace drey::trainer;

TEST(Crc32c, AgreesWithTheVectorsOfRfc3720) {
  std::string ascending(32, '\0');
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<char>(i);
  const std::string descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(crc32c(descending), 0x113fdb5cU);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(EventFile, BeginsWithItsVersionAndHoldsWhatWasAdded) {
  const TemporaryFolder folder;
  EventFile file(folder.path("runs/first"));
  file.add(300, std::array{Scalar{"losses/td_loss", 0.25}, Scalar{"charts/SPS", 1234.0}});
  file.add(70'000'000'000, std::array{Scalar{"charts/epsilon", -1.5}});
  const std::vector<std::string> records = records_of(file.path());
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(ProtobufMessage(records[0]).text(3), "brain.Event:2");
  const ProtobufMessage event(records[1]);
  EXPECT_EQ(event.one(2).value, 300U);
  const double seconds = std::bit_cast<double>(event.one(1).value);
  EXPECT_GT(seconds, 1.7e9);
  EXPECT_LT(seconds, 1e10);
  const std::vector<ProtobufField> values = event.message(5).all(1);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(ProtobufMessage(values[0].bytes).text(1), "losses/td_loss");
  EXPECT_EQ(std::bit_cast<float>(
                static_cast<std::uint32_t>(ProtobufMessage(values[0].bytes).one(2).value)),
            0.25F);
  EXPECT_EQ(ProtobufMessage(values[1].bytes).text(1), "charts/SPS");
  EXPECT_EQ(ProtobufMessage(records[2]).one(2).value, 70'000'000'000U);
}

TEST(EventFile, HasANameThatTensorBoardLooksFor) {
  const TemporaryFolder folder;
  const EventFile file(folder.path("runs"));
  const std::string name = std::filesystem::path(file.path()).filename();
  EXPECT_EQ(name.rfind("events.out.tfevents.", 0), 0U) << name;
}

TEST(EventFile, EachRunHasAFileOfItsOwn) {
  const TemporaryFolder folder;
  const EventFile first(folder.path("runs"));
  const EventFile second(folder.path("runs"));
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(records_of(first.path()).size(), 1U);
  EXPECT_EQ(records_of(second.path()).size(), 1U);
}

TEST(EventFile, FolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder folder;
  write_file(folder.path("file"), "x");
  try {
    const EventFile file(folder.path("file"));
    FAIL() << "no error";
  } catch (const SystemError& error) {
    EXPECT_EQ(std::string(error.what()), folder.path("file") + ": expected a folder, found a file");
  }
  EXPECT_THROW(EventFile("/proc/no/such"), SystemError);
}
}  // namespace
}  // namespace drey::test
