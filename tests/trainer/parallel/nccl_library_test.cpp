// nccl_library_test.cpp: what is wrong with NCCL's library is one line.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/nccl_library.hpp"

#include <gtest/gtest.h>

#include "trainer/data/error.hpp"
#include "trainer/parallel/nccl_fixture.hpp"

namespace drey::trainer {
namespace {
std::string complaint() {
  return test::complaint_of([] { static_cast<void>(load_nccl()); });
}

TEST(NcclLibrary, IsNamedWhenItIsMissing) {
  const test::NcclPath path("/nowhere/libnccl.so.2");
  const std::string text = complaint();
  EXPECT_EQ(text.find("averaging by NCCL: expected libnccl.so.2, or its path in DREY_NCCL_LIBRARY, "
                      "found none that opens: /nowhere/libnccl.so.2"),
            0u)
      << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_THROW(static_cast<void>(load_nccl()), ConfigError);
}

TEST(NcclLibrary, LacksAFunctionThatIsNamed) {
  const test::NcclPath path(DREY_NO_NCCL);
  EXPECT_EQ(complaint(),
            "averaging by NCCL: expected a library with ncclGetVersion, found one without it");
}

TEST(NcclLibrary, IsOfVersionTwo) {
  const test::NcclPath path(DREY_FAKE_NCCL);
  test::FakeNccl& fake = test::fresh_fake_nccl();
  for (const int version : {2408, 2804, 20900, 22705}) {
    fake.version = version;
    EXPECT_EQ(complaint(), "");
  }
  for (const int version : {0, 1305, 30000}) {
    fake.version = version;
    EXPECT_EQ(complaint(), "averaging by NCCL: expected version 2, found version number " +
                               std::to_string(version));
  }
  fake.failing = "ncclGetVersion";
  fake.result = 6;
  EXPECT_EQ(
      complaint(),
      "averaging by NCCL: expected a version from ncclGetVersion, found remote process exited");
}
}  // namespace
}  // namespace drey::trainer
