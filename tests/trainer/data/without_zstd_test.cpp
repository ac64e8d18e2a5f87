// without_zstd_test.cpp: a program that was built without libzstd says so in one line. Linked with
// zstd_absent.cpp, which comes before the library's own.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "trainer/data/bar_files.hpp"
#include "trainer/data/dbn_reader.hpp"
#include "trainer/data/fault_text.hpp"

namespace drey::trainer {
namespace {
TEST(WithoutZstd, PackedDataIsRefusedInOneLine) {
  const TemporaryFile file("\x28\xB5\x2F\xFD and so on", "bars.dbn.zst");
  EXPECT_EQ(
      fault_text(file.path(), [&] { return read_dbn(file.path()); }),
      "FILE: expected a file without zstd compression ('zstd -d' unpacks it), found zstd, for "
      "which this program was built without libzstd");
}
}  // namespace
}  // namespace drey::trainer
