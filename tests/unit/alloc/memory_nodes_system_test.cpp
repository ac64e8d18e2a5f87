// memory_nodes_system_test.cpp: memory_node.hpp on the real system, whatever machine this is.
// SPDX-License-Identifier: MIT
#include "os/memory_node.hpp"
#include "os/os.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace drey::os {
namespace {
/// Folders of nodes that sysfs shows: another file than has_memory_nodes() reads.
std::size_t node_folders() {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos)
      ++count;
  }
  return count;
}

TEST(MemoryNodesOfTheSystem, AreSeveralWhereSysfsShowsSeveral) {
  EXPECT_EQ(has_memory_nodes(), node_folders() > 1);
}

TEST(MemoryNodesOfTheSystem, AThreadRunsOnANodeThatExists) {
  if (node_folders() == 0) GTEST_SKIP() << "no /sys/devices/system/node";
  EXPECT_TRUE(
      std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(memory_node())));
}

TEST(MemoryNodesOfTheSystem, AWishForANodeThatMayNotExistChangesNeitherErrnoNorTheMemory) {
  const std::size_t bytes = 4 * page_bytes();
  void* const memory = map(bytes, page_bytes());
  ASSERT_NE(memory, nullptr);
  for (const unsigned node : {0U, 1U, 1023U, 1024U, ~0U}) {
    errno = E2BIG;
    wish_memory_node(memory, bytes, node);
    EXPECT_EQ(errno, E2BIG) << node;
    std::memset(memory, 1, bytes);
  }
  unmap(memory, bytes);
}
}  // namespace
}  // namespace drey::os
