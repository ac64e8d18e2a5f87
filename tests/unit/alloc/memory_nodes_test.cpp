// memory_nodes_test.cpp: on a machine with several memory nodes a thread's slices are of its own node.
//
// Method: stores of the test's own on the fake system, which says how many nodes there are.
// SPDX-License-Identifier: MIT
#include "core/options.hpp"
#include "core/segment_store.hpp"
#include "support/fake_os.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace drey::core {
namespace {
class MemoryNodesTest : public testing::Test {
 protected:
  MemoryNodesTest() {
    fake_os::reset();
    segment_store.open();  // the map, which all stores share
    options.purge_delay_ms = -1;
    options.numa = true;
  }
  ~MemoryNodesTest() override {
    EXPECT_TRUE(store->invariants_hold());
    options.numa = true;
    fake_os::reset();
  }

  void open(bool several) {
    fake_os::set_memory_nodes(several, 0);
    store->open();
  }
  Slab* take_on(unsigned node, std::size_t slices = 1) {
    fake_os::set_memory_nodes(true, node);
    const SegmentStore::Run run = store->acquire(slices, kSliceBytes);
    if (run.slab != nullptr) run.slab->state = SlabState::kLarge;
    return run.slab;
  }

  std::unique_ptr<SegmentStore> store = std::make_unique<SegmentStore>();
};

TEST_F(MemoryNodesTest, SlicesComeFromASegmentOfTheThreadsNode) {
  open(true);
  Slab* const here = take_on(0);
  const Segment* const of_node_0 = here->segment;
  Slab* const there = take_on(3);
  ASSERT_NE(there->segment, of_node_0);
  const auto wish = fake_os::wished_memory_node();
  ASSERT_TRUE(wish.has_value());
  EXPECT_EQ(wish->node, 3U);
  EXPECT_EQ(wish->start, there->segment->start);
  EXPECT_EQ(wish->bytes, there->segment->slice_count * kSliceBytes);
  EXPECT_EQ(take_on(0)->segment, of_node_0);
  EXPECT_EQ(take_on(3)->segment, there->segment);
}

TEST_F(MemoryNodesTest, GivenBackSlicesGoToTheNextThreadOfTheirNodeOnly) {
  open(true);
  Slab* const slab = take_on(1);
  store->release(slab, 1);
  EXPECT_NE(take_on(0), slab);
  EXPECT_EQ(take_on(1), slab);
}

TEST_F(MemoryNodesTest, AnotherNodesMemoryIsBetterThanNone) {
  open(true);
  Slab* const first = take_on(0);
  fake_os::fail_all(true);
  Slab* const second = take_on(1);
  fake_os::fail_all(false);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->segment, first->segment);
}

TEST_F(MemoryNodesTest, WithOneNodeNothingIsWishedAndAllIsShared) {
  open(false);
  Slab* const first = store->acquire(1, kSliceBytes).slab;
  fake_os::set_memory_nodes(false, 5);  // what a machine with one node never says
  EXPECT_EQ(store->acquire(1, kSliceBytes).slab->segment, first->segment);
  EXPECT_FALSE(fake_os::wished_memory_node().has_value());
}

TEST_F(MemoryNodesTest, TheOptionSwitchesItOff) {
  options.numa = false;
  open(true);
  Slab* const first = take_on(0);
  EXPECT_EQ(take_on(1)->segment, first->segment);
  EXPECT_FALSE(fake_os::wished_memory_node().has_value());
}
}  // namespace
}  // namespace drey::core
