// active_allocator_test.cpp: small programs, linked and preloaded in every way, say whose malloc
// they use; the truth is known here from how they were built and started.
// Peers that are not installed are skipped by name.
// SPDX-License-Identifier: MIT
#include <drey/base/active_allocator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <gnu/libc-version.h>

namespace drey {
namespace {
struct Answer {
  std::string name;
  std::string version;
  std::string how;
};

constexpr const char* kPlain = DREY_TEST_SAY_PLAIN;

std::string library(const char* file) {
  return std::string(DREY_TEST_LIBRARY_FOLDER "/") + file;
}

/// Runs `program` with LD_PRELOAD = `preload` and reads its three lines.
Answer ask(const std::string& program, const std::string& preload = "") {
  const std::string command = "LD_PRELOAD='" + preload + "' '" + program + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<std::string, 3> lines;
  std::array<char, 1024> buffer{};
  for (std::string& line : lines) {
    if (pipe == nullptr || fgets(buffer.data(), buffer.size(), pipe.get()) == nullptr) break;
    line = buffer.data();
    if (!line.empty() && line.back() == '\n') line.pop_back();
  }
  return {lines[0], lines[1], lines[2]};
}

bool exists(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rb"), fclose);
  return file != nullptr;
}

/// A library of the distribution and the name it must be known by.
struct Peer {
  const char* name;
  const char* file;
};

class PreloadedPeer : public testing::TestWithParam<Peer> {};

TEST(ActiveAllocator, OfAPlainProgramIsTheCLibrary) {
  const Answer answer = ask(kPlain);
  EXPECT_EQ(answer.name, "glibc");
  EXPECT_EQ(answer.version, gnu_get_libc_version());
  EXPECT_EQ(answer.how, "the C library");
}

TEST(ActiveAllocator, LinkedInByNobodyKnownIsUnknown) {
  const Answer answer = ask(DREY_TEST_SAY_STRANGER);
  EXPECT_EQ(answer.name, "unknown");
  EXPECT_EQ(answer.version, "");
  EXPECT_EQ(answer.how, "linked into the program");
}

TEST(ActiveAllocator, HiddenStaticDreyIsFoundByWeakReference) {
  const Answer answer = ask(DREY_TEST_SAY_HIDDEN);
  EXPECT_EQ(answer.name, "drey");
  EXPECT_EQ(answer.version, "9.9.9");
  EXPECT_EQ(answer.how, "linked into the program");
}

TEST_P(PreloadedPeer, IsNamedWithItsPath) {
  const std::string path = library(GetParam().file);
  if (!exists(path)) GTEST_SKIP() << path << " is not installed";
  const Answer answer = ask(kPlain, path);
  EXPECT_EQ(answer.name, GetParam().name);
  EXPECT_NE(answer.version.find('.'), std::string::npos) << answer.version;
  EXPECT_EQ(answer.how, "preloaded: " + path);
}

TEST_P(PreloadedPeer, DoesNotReplaceAMallocLinkedIntoTheProgram) {
  const std::string path = library(GetParam().file);
  if (!exists(path)) GTEST_SKIP() << path << " is not installed";
  const Answer answer = ask(DREY_TEST_SAY_STRANGER, path);
  EXPECT_EQ(answer.name, "unknown");
  EXPECT_EQ(answer.how, "linked into the program");
}

INSTANTIATE_TEST_SUITE_P(ActiveAllocator, PreloadedPeer,
                         testing::Values(Peer{"mimalloc", "libmimalloc.so.2"},
                                         Peer{"jemalloc", "libjemalloc.so.2"},
                                         Peer{"tcmalloc", "libtcmalloc_minimal.so.4"}),
                         [](const auto& peer) { return std::string(peer.param.name); });

TEST(ActiveAllocator, PreloadByBareNameIsStillAPreload) {
  if (!exists(library("libjemalloc.so.2"))) GTEST_SKIP() << "jemalloc is not installed";
  const Answer answer = ask(kPlain, "libjemalloc.so.2 " + library("libtcmalloc_minimal.so.4"));
  EXPECT_EQ(answer.name, "jemalloc");
  EXPECT_EQ(answer.how.rfind("preloaded: ", 0), 0u) << answer.how;
}

#ifdef DREY_TEST_SAY_MIMALLOC
TEST(ActiveAllocator, LinkedAsASharedLibraryIsNamedWithItsPath) {
  const Answer answer = ask(DREY_TEST_SAY_MIMALLOC);
  EXPECT_EQ(answer.name, "mimalloc");
  EXPECT_EQ(answer.how.rfind("shared library: /", 0), 0u) << answer.how;
}

TEST(ActiveAllocator, APreloadOverASharedLibraryWins) {
  const std::string path = library("libjemalloc.so.2");
  if (!exists(path)) GTEST_SKIP() << path << " is not installed";
  const Answer answer = ask(DREY_TEST_SAY_MIMALLOC, path);
  EXPECT_EQ(answer.name, "jemalloc");
  EXPECT_EQ(answer.how, "preloaded: " + path);
}
#endif
}  // namespace
}  // namespace drey
