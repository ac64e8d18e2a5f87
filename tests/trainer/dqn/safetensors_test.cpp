// safetensors_test.cpp: what is written reads back, and nothing damaged is believed.
// SPDX-License-Identifier: MIT
#include "trainer/files/safetensors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
constexpr std::array<float, 6> kNumbers = {1, -2, 3.5F, 0, 1e-38F, 1e38F};
constexpr std::array<std::uint8_t, 3> kBytes = {0, 7, 255};

std::string sample_file() {
  TensorWriter writer;
  writer.add("numbers", {2, 3}, std::span<const float>(kNumbers));
  writer.add("bytes", {3}, std::span<const std::uint8_t>(kBytes));
  writer.add("nothing", {0}, std::span<const std::int32_t>());
  writer.set_metadata("note", "a \"quoted\" note");
  return writer.file_contents();
}

/// A file of this header and data.
std::string file_of(const std::string& header, const std::string& data) {
  std::string contents(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(contents.data(), &length, 8);
  return contents + header + data;
}

/// The one line that reading `contents` is refused with; empty if it is not.
std::string complaint_about(const std::string& contents) {
  try {
    const TensorReader reader("some.file", contents);
    std::array<float, 6> numbers{};
    reader.read("numbers", {2, 3}, std::span<float>(numbers));
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return {};
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  const TensorReader reader("some.file", sample_file());
  std::array<float, 6> numbers{};
  std::array<std::uint8_t, 3> bytes{};
  reader.read("numbers", {2, 3}, std::span<float>(numbers));
  reader.read("bytes", {3}, std::span<std::uint8_t>(bytes));
  reader.read("nothing", {0}, std::span<std::int32_t>());
  EXPECT_EQ(numbers, kNumbers);
  EXPECT_EQ(bytes, kBytes);
  EXPECT_EQ(reader.metadata("note"), "a \"quoted\" note");
  EXPECT_EQ(complaint_about(sample_file()), "");
}

TEST(Safetensors, DataBeginOnAMultipleOfEight) {
  const std::string contents = sample_file();
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, contents.data(), 8);
  EXPECT_EQ(header_bytes % 8, 0U);
  EXPECT_EQ(contents[8], '{');
  EXPECT_EQ(contents.size(), 8 + header_bytes + 24 + 3);
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string contents = sample_file();
  for (std::size_t length = 0; length < contents.size(); ++length) {
    EXPECT_NE(complaint_about(contents.substr(0, length)), "") << length << " bytes";
  }
  EXPECT_NE(complaint_about(contents + "x"), "");
}

TEST(Safetensors, SurvivesEveryChangedByteOfTheHeader) {
  const std::string contents = sample_file();
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, contents.data(), 8);
  for (std::size_t place = 0; place < 8 + header_bytes; ++place) {
    for (const int change : {1, 0x20, 0x80}) {
      std::string changed = contents;
      changed[place] = static_cast<char>(changed[place] ^ change);
      const std::string complaint = complaint_about(changed);  // none, or one line; no crash
      EXPECT_EQ(complaint.find('\n'), std::string::npos);
    }
  }
}

TEST(Safetensors, NamesFileExpectedAndFound) {
  const std::string data(24, '\0');
  const std::vector<std::array<std::string, 2>> cases = {
      {"not json at all", "safetensors header in JSON"},
      {"[1, 2]", "safetensors header in JSON"},
      {R"({"numbers": 3})", "an object for 'numbers'"},
      {R"({"numbers": {"dtype": "F32", "shape": [2, 3]}})", "dtype, shape and data_offsets"},
      {R"({"numbers": {"dtype": "F99", "shape": [2, 3], "data_offsets": [0, 24]}})",
       "a known dtype for array 'numbers', found 'F99'"},
      {R"({"numbers": {"dtype": "F32", "shape": [2, -3], "data_offsets": [0, 24]}})",
       "dtype, shape and data_offsets"},
      {R"({"numbers": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]}})",
       "data_offsets that fit shape [2, 3]"},
      {R"({"numbers": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 24]}})",
       "data_offsets that fit shape"},
      {R"({"numbers": {"dtype": "F32", "shape": [1, 6], "data_offsets": [0, 24]}})",
       "shape [2, 3] for array 'numbers', found [1, 6]"},
      {R"({"numbers": {"dtype": "I32", "shape": [2, 3], "data_offsets": [0, 24]}})",
       "dtype F32 for array 'numbers', found 'I32'"},
      {R"({"numbers": {"dtype": "F32", "shape": [2, 2], "data_offsets": [8, 24]}})",
       "an array that begins at byte 0"},
      {R"({"other": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})",
       "an array 'numbers', found none"},
      {R"({"__metadata__": {"a": 1}})", "text for metadata 'a'"},
  };
  for (const auto& [header, expected] : cases) {
    const std::string complaint = complaint_about(file_of(header, data));
    EXPECT_EQ(complaint.rfind("some.file: expected ", 0), 0U) << complaint;
    EXPECT_NE(complaint.find(expected), std::string::npos) << complaint;
    EXPECT_NE(complaint.find(", found "), std::string::npos) << complaint;
  }
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  std::string contents = sample_file();
  const std::uint64_t length = ~std::uint64_t{0};
  std::memcpy(contents.data(), &length, 8);
  EXPECT_NE(complaint_about(contents).find("a safetensors header that fits"), std::string::npos);
}
}  // namespace
}  // namespace drey::trainer
