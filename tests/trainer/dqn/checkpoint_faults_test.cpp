// checkpoint_faults_test.cpp: a checkpoint whose header is right and whose numbers are not: each
// array that a run goes on from is checked before it is used.
// Method: a real checkpoint, of which one value of one array is overwritten.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "trainer_program.hpp"

namespace drey::test {
namespace {
using drey::trainer::read_file;
using drey::trainer::write_file;

/// `file` with the first value of an array replaced.
template <class Value>
std::string with_first(std::string file, const std::string& array, Value value) {
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), sizeof(header_size));
  const auto header = nlohmann::json::parse(file.substr(8, header_size));
  const auto begin = header.at(array).at("data_offsets").at(0).get<std::size_t>();
  std::memcpy(file.data() + 8 + header_size + begin, &value, sizeof(value));
  return file;
}

class CheckpointFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    const ChildResult result = run_trainer(
        {"--env", "cartpole", "--epochs", "1", "--pass-steps", "60", "--learning-starts", "20",
         "--batch", "4", "--per", "--n-step", "3", "--buffer", "30", "--checkpoint", path_});
    ASSERT_TRUE(result.succeeded()) << result.summary();
    good_ = read_file(path_);
  }
  template <class Value>
  void refused(const std::string& array, Value value, const std::string& text) {
    write_file(path_, with_first(good_, array, value));
    const ChildResult result =
        run_trainer({"--epochs", "2", "--resume", path_, "--metrics", folder_.path("metrics")});
    EXPECT_EQ(result.exit_status, 2) << array << result.summary();
    EXPECT_NE(result.error_output.find(path_ + ": expected " + text), std::string::npos)
        << array << result.summary();
    EXPECT_EQ(std::count(result.error_output.begin(), result.error_output.end(), '\n'), 1);
    EXPECT_EQ(folder_.file_count(), 1U) << "no metrics of a run that did not begin";
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("checkpoint");
  std::string good_;
};

TEST_F(CheckpointFaults, InWhatIsRememberedAreNamed) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  refused("replay.observation", std::int32_t{-1}, "rows below");
  refused("replay.next_observation", std::int32_t{1 << 30}, "rows below");
  refused("replay.reward", std::numeric_limits<float>::infinity(), "rows below");
  refused("replay.action", std::uint8_t{2}, "rows below");
  refused("replay.steps", std::uint8_t{0}, "rows below");
  refused("replay.head", std::int64_t{30}, "a replay of at most 30 transitions");
  refused("replay.priority", kNan, "finite priorities above 0");
  refused("replay.priority", 0.0, "finite priorities above 0");
  refused("replay.priority_max", -1.0, "finite priorities above 0");
  refused("window.count", std::int32_t{3}, "rows below");
  refused("window.count", std::int32_t{-1}, "rows below");
}

TEST_F(CheckpointFaults, InTheWorldsAreNamed) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  refused("world.state", kNan, "a state of world 0");
  refused("world.episode", 0.5, "rows below");
  refused("world.episode", 1e9, "rows below");
  refused("ring.next", std::int64_t{-1}, "a ring of at most");
  refused("ring.observations", std::numeric_limits<float>::quiet_NaN(), "finite numbers");
  refused("network.0.weight", std::numeric_limits<float>::quiet_NaN(), "finite numbers");
}
}  // namespace
}  // namespace drey::test
