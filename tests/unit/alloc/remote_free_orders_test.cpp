// remote_free_orders_test.cpp: owner, adopter and freers, interleaved in every possible order.
//
// Method: heaps of the test's own play the threads on one real thread. Where a step is half of a
// function (a freer that stops between its compare-and-swap and its push), the test does that half
// itself (support/remote_free_steps.hpp). Memory orders are not under test here.
// SPDX-License-Identifier: MIT
#include "core/remote_free.hpp"

#include "core/check.hpp"
#include "core/options.hpp"
#include "core/slab_map.hpp"
#include "support/fake_os.hpp"
#include "support/remote_free_steps.hpp"
#include "support/test_heap.hpp"
#include "support/test_slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

namespace drey::core {
namespace {
constexpr std::size_t kBlockBytes = 64_KiB;  // eight to a slab
constexpr SizeClass kClass = class_of(kBlockBytes);

/// One actor's steps, in their order.
using Script = std::vector<std::function<void()>>;

/// Runs the scripts made by `make_scripts` interleaved in every possible way; `check` runs after
/// each step, `finish` after the last. Returns: how many ways there were.
template <typename Make, typename Check, typename Finish>
std::size_t run_interleaved(const std::vector<std::size_t>& lengths, Make make_scripts, Check check,
                            Finish finish) {
  std::vector<std::size_t> order;
  for (std::size_t actor = 0; actor < lengths.size(); ++actor) {
    order.insert(order.end(), lengths[actor], actor);
  }
  std::size_t ways = 0;
  do {
    const std::vector<Script> scripts = make_scripts();
    std::vector<std::size_t> next(lengths.size(), 0);
    for (const std::size_t actor : order) {
      scripts.at(actor).at(next[actor]++)();
      check();
    }
    finish();
    ++ways;
  } while (std::next_permutation(order.begin(), order.end()));
  return ways;
}

/// A freer of one chain, as four steps: link, read the owner, push, look whether it is an orphan.
struct SteppedFreer {
  Slab* slab = nullptr;
  std::vector<Block*> blocks;
  bool announces = false;
  bool may_write = true;  ///< to the slab's descriptor, now or later
  Heap* seen_owner = nullptr;

  [[nodiscard]] Script two_steps();
  [[nodiscard]] Script steps() {
    return {[this] {
              announces = link_into(slab, blocks);
              may_write = announces;
            },
            [this] { seen_owner = slab->owner.load(); },
            [this] {
              if (announces) push_onto(seen_owner, slab);
              may_write = false;
            },
            [this] {
              if (announces) serve_if_orphan(seen_owner);
            }};
  }
};

/// The same in two steps: link, and all the rest.
Script SteppedFreer::two_steps() {
  return {steps()[0], [this] {
            const Script all = steps();
            for (std::size_t step = 1; step < all.size(); ++step) all[step]();
          }};
}

class RemoteFreeInterleavings : public testing::Test {
 protected:
  RemoteFreeInterleavings() {
    fake_os::reset();
    options.purge_delay_ms = -1;
  }

  /// Two freers that share the blocks of one full slab.
  void share_out(const std::vector<void*>& taken) {
    slab = slab_map.find(taken[0]);
    first = {slab, {}, false, true, nullptr};
    second = first;
    for (std::size_t index = 0; index < 8; ++index) {
      (index < 3 ? first : second).blocks.push_back(static_cast<Block*>(taken[index]));
    }
  }
  /// After each step. A slab must be somebody's while a freer may still write to it.
  void expect_slab_sound() const {
    ASSERT_TRUE(slab->owner.load() != nullptr || (!first.may_write && !second.may_write));
    ASSERT_TRUE(slab->invariants_hold());
  }
  /// At the end, when all blocks came back.
  void expect_all_released() {
    ASSERT_EQ(slab->owner.load(), nullptr);
    ASSERT_FALSE(is_announced(slab));
    if (ways_checked++ % 16 != 0) return;  // the walk over everything is long
    ASSERT_EQ(check_core().broken, nullptr) << check_core().broken;
    ASSERT_EQ(check_core().slab_bytes, 0u);
  }

  std::size_t ways_checked = 0;
  Slab* slab = nullptr;
  SteppedFreer first;
  SteppedFreer second;
};

TEST_F(RemoteFreeInterleavings, OwnerAndTwoFreersAgreeInEveryOrder) {
  std::unique_ptr<TestHeap> owner;
  void* block = nullptr;
  const auto make_scripts = [&] {
    owner = std::make_unique<TestHeap>();
    const Acting acting(owner->get());
    share_out(take_blocks(8, kBlockBytes));
    const Script owns = {[&] {
                           const Acting playing(owner->get());
                           block = allocate(kBlockBytes);
                         },
                         [&] {
                           const Acting playing(owner->get());
                           deallocate(block);
                         },
                         [&] {
                           (*owner)->park_current(kClass);
                           (*owner)->release_empty_slabs();
                         },
                         [&] { (*owner)->serve_announcements(); }};
    return std::vector<Script>{first.steps(), second.two_steps(), owns};
  };
  const auto finish = [&] {
    (*owner)->serve_announcements();
    (*owner)->park_current(kClass);
    (*owner)->release_empty_slabs();
    expect_all_released();
    ASSERT_EQ((*owner)->slab_bytes.value(), 0u);
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 4}, make_scripts, [&] { expect_slab_sound(); }, finish),
            3150u);
}

TEST_F(RemoteFreeInterleavings, AnAdopterOfTheSlabAndTwoFreersAgreeInEveryOrder) {
  std::unique_ptr<TestHeap> taker;
  Heap* orphan = nullptr;
  const auto adopt = [&] {
    Slab* const adopted = adopt_slab(**taker, kClass);
    if (adopted != nullptr) (*taker)->queue(adopted);
  };
  const auto serve = [&] { (*taker)->serve_announcements(); };
  const auto make_scripts = [&] {
    taker = std::make_unique<TestHeap>();
    play_thread([&] {
      share_out(take_blocks(8, kBlockBytes));
      orphan = this_heap;
    });
    return std::vector<Script>{first.steps(), second.two_steps(), {adopt, serve, adopt, serve}};
  };
  const auto finish = [&] {
    collect_orphans();
    (*taker)->serve_announcements();
    (*taker)->release_empty_slabs();
    expect_all_released();
    ASSERT_EQ((*taker)->slab_bytes.value() + orphan->slab_bytes.value(), 0u);
    ASSERT_TRUE(announced_slabs(*orphan).empty());
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 4}, make_scripts, [&] { expect_slab_sound(); }, finish),
            3150u);
}

TEST_F(RemoteFreeInterleavings, ANewThreadThatAdoptsTheHeapAndTwoFreersAgreeInEveryOrder) {
  Heap* heap = nullptr;
  Heap* playing = nullptr;
  const auto begin = [&] {
    const Acting acting(&empty_heap);
    playing = ensure_heap();
  };
  const auto serve = [&] { playing->serve_announcements(); };
  const auto end = [&] {
    const Acting acting(playing);
    fake_os::end_this_thread();
  };
  const auto make_scripts = [&] {
    play_thread([&] {
      share_out(take_blocks(8, kBlockBytes));
      heap = this_heap;
    });
    return std::vector<Script>{first.steps(), second.two_steps(), {begin, serve, end}};
  };
  const auto finish = [&] {
    collect_orphans();
    expect_all_released();
    ASSERT_EQ(heap->slab_bytes.value(), 0u);
    ASSERT_TRUE(announced_slabs(*heap).empty());
  };
  EXPECT_EQ(run_interleaved(
                {4, 2, 3}, make_scripts, [&] { expect_slab_sound(); }, finish),
            1260u);
}

}  // namespace
}  // namespace drey::core
