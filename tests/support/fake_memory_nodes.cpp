// fake_memory_nodes.cpp: memory_node.hpp as a test wants it. Read next: fake_os.hpp.
// SPDX-License-Identifier: MIT
#include "support/fake_os.hpp"

#include "os/memory_node.hpp"

#include <atomic>

namespace drey::fake_os {
namespace {
// Relaxed where it matters: tests set them while one thread runs.
constinit std::atomic<bool> several_nodes{false};
constinit std::atomic<unsigned> current_node{0};
std::optional<NodeWish> node_wish;
}  // namespace

void set_memory_nodes(bool several, unsigned current) noexcept {
  several_nodes = several;
  current_node = current;
  if (!several) node_wish.reset();
}

std::optional<NodeWish> wished_memory_node() noexcept {
  return node_wish;
}
}  // namespace drey::fake_os

namespace drey::os {
bool has_memory_nodes() noexcept {
  return fake_os::several_nodes;
}

unsigned memory_node() noexcept {
  return fake_os::current_node;
}

void wish_memory_node(void* start, std::size_t bytes, unsigned node) noexcept {
  fake_os::node_wish = fake_os::NodeWish{start, bytes, node};
}
}  // namespace drey::os
