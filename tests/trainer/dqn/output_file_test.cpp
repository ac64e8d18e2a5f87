// output_file_test.cpp: a file appears whole or not at all, also when the writer is killed.
// Method of the last test: a child writes one of two long texts again and again; after some hundred
// writes, told through a pipe, it is killed without warning. What is there must be one of the two.
// SPDX-License-Identifier: MIT
#include "trainer/files/output_file.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
std::string contents_of(const std::string& path) {
  return read_file(path);
}

TEST(OutputFile, ReplacesContentsAndLeavesNothingElse) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("out.txt");
  write_file(path, "first");
  EXPECT_EQ(contents_of(path), "first");
  write_file(path, "second, and longer");
  EXPECT_EQ(contents_of(path), "second, and longer");
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(OutputFile, CheckingLeavesNoTrace) {
  const test::TemporaryFolder folder;
  check_writable(folder.path("new.txt"));
  EXPECT_EQ(folder.file_count(), 0U);
  write_file(folder.path("old.txt"), "kept");
  check_writable(folder.path("old.txt"));
  EXPECT_EQ(contents_of(folder.path("old.txt")), "kept");
}

TEST(OutputFile, RefusesWhatCannotBeWrittenAndNamesIt) {
  const test::TemporaryFolder folder;
  write_file(folder.path("file"), "x");
  for (const std::string& path :
       {folder.path("missing/out.txt"), folder.path("file/out.txt"), folder.path("")}) {
    try {
      check_writable(path);
      FAIL() << path;
    } catch (const SystemError& error) {
      EXPECT_EQ(std::string(error.what()).rfind(path + ": ", 0), 0U) << error.what();
    }
    EXPECT_THROW(write_file(path, "text"), SystemError);
  }
  EXPECT_EQ(folder.file_count(), 1U);
}

TEST(OutputFile, FollowsASymbolicLinkInsteadOfReplacingIt) {
  const test::TemporaryFolder folder;
  write_file(folder.path("real.txt"), "old");
  std::filesystem::create_symlink("real.txt", folder.path("link.txt"));
  write_file(folder.path("link.txt"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link.txt")));
  EXPECT_EQ(contents_of(folder.path("real.txt")), "new");
}

TEST(OutputFile, WritesThroughADeviceAndNeverReplacesIt) {
  check_writable("/dev/null");
  write_file("/dev/null", "text");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THROW(write_file("/dev/full", "text"), SystemError);  // no space on device
}

TEST(OutputFile, IsWholeWhenItsWriterIsKilled) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("out.txt");
  const std::string texts[2] = {std::string(200000, 'a'), std::string(150000, 'b')};
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (int count = 0;; ++count) {
        write_file(path, texts[count % 2]);
        if (::write(ends[1], "x", 1) != 1) ::_exit(1);
      }
    }
    ::close(ends[1]);
    char told = 0;
    for (int count = 0; count < 20 + 7 * round; ++count) ASSERT_EQ(::read(ends[0], &told, 1), 1);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ::close(ends[0]);
    const std::string left = contents_of(path);
    EXPECT_TRUE(left == texts[0] || left == texts[1]) << left.size() << " bytes";
  }
  write_file(path, "after a crash");  // a partial file left behind is in nobody's way
  EXPECT_EQ(contents_of(path), "after a crash");
  EXPECT_EQ(folder.file_count(), 1U);
}
}  // namespace
}  // namespace drey::trainer
