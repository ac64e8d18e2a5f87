// object_pool_test.cpp: objects in place: life, limits, growth, exceptions, misuse, leftovers.
//
// The random test keeps a std::map beside the pool: each object holds a number of its own.
// SPDX-License-Identifier: MIT
#include <drey/base/bits.hpp>
#include <drey/pools/object_pool.hpp>

#include "support/seeded_random.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace drey {
namespace {
static_assert(!std::is_copy_constructible_v<PooledObject<int>>);
static_assert(std::is_nothrow_move_assignable_v<PooledObject<int>>);
static_assert(!std::is_convertible_v<PooledObject<int>, bool>);
static_assert(noexcept(std::declval<ObjectPool<int>&>().construct(1)));
static_assert(!noexcept(std::declval<ObjectPool<std::string>&>().construct("text")));

/// Counts those alive.
struct Counted {
  explicit Counted(int number_given) noexcept : number(number_given) { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int number;
  static inline int alive = 0;
};

TEST(ObjectPool, ConstructsAndDestroysInPlace) {
  ObjectPool<Counted> pool(10);
  Counted* const object = pool.construct(7);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->number, 7);
  EXPECT_EQ(Counted::alive, 1);
  EXPECT_TRUE(pool.owns(object));
  pool.destroy(object);
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_FALSE(pool.owns(object));
  pool.destroy(nullptr);
  EXPECT_EQ(pool.construct(8), object) << "the last place given back is the next one out";
  pool.clear();
}

TEST(ObjectPool, IsEmptyHandedWhenExhaustedAndRecovers) {
  ObjectPool<int> pool(2);
  PooledObject<int> first = pool.make(1);
  const PooledObject<int> second = pool.make(2);
  EXPECT_FALSE(pool.make(3));
  EXPECT_EQ(pool.construct(3), nullptr);
  EXPECT_EQ(pool.statistics().exhausted_count, 2U);
  first.reset();
  EXPECT_TRUE(pool.make(3));
}

TEST(ObjectPool, WithoutRoomHasNoCapacity) {
  struct Wide {
    std::byte bytes[4096];
  };
  for (const std::size_t capacity : {std::size_t{0}, BlockPool::kCapacityMax + 1, SIZE_MAX}) {
    for (const PoolGrowth growth : {PoolGrowth::kFixed, PoolGrowth::kGrowing}) {
      ObjectPool<Wide> pool(capacity, growth);
      EXPECT_EQ(pool.capacity(), 0U) << capacity;
      EXPECT_EQ(pool.construct(), nullptr) << capacity;
      EXPECT_TRUE(pool.invariants_hold());
    }
  }
}

TEST(BlockPool, RefusesShapesThatCannotBe) {
  EXPECT_EQ(BlockPool(0, 16, 10).capacity(), 0U);
  EXPECT_EQ(BlockPool(16, 0, 10).capacity(), 0U);
  EXPECT_EQ(BlockPool(16, 24, 10).capacity(), 0U);
  EXPECT_EQ(BlockPool(SIZE_MAX, 16, 1).capacity(), 0U);
  EXPECT_EQ(BlockPool(SIZE_MAX / 2, 64, 3).capacity(), 0U);
  EXPECT_EQ(BlockPool(std::size_t{1} << 40, 64, 1 << 20).capacity(), 0U);
  BlockPool pool(100, 64, 3);
  EXPECT_EQ(pool.block_bytes(), 128U);
  EXPECT_EQ(pool.capacity(), 3U);
}

TEST(ObjectPool, AlignsObjectsHoweverMuch) {
  struct alignas(256) Aligned {
    char byte;
  };
  ObjectPool<Aligned> pool(100, PoolGrowth::kGrowing);
  std::vector<PooledObject<Aligned>> objects;
  for (int i = 0; i < 100; ++i) {
    objects.push_back(pool.make());
    ASSERT_TRUE(objects.back());
    EXPECT_TRUE(is_aligned(objects.back().get(), 256));
  }
}

TEST(ObjectPool, GrowsByDoublingUpToItsCapacity) {
  constexpr std::size_t kCapacity = 100'000;
  ObjectPool<std::uint64_t> pool(kCapacity, PoolGrowth::kGrowing, LeftoverObjects::kDestroy);
  EXPECT_EQ(pool.statistics().reserved_bytes, 0U) << "nothing before the first object";
  std::vector<std::uint64_t*> objects;
  std::set<std::uint64_t*> places;
  for (std::size_t i = 0; i < kCapacity; ++i) {
    objects.push_back(pool.construct(i));
    ASSERT_NE(objects.back(), nullptr) << i;
    places.insert(objects.back());
  }
  EXPECT_EQ(places.size(), kCapacity);
  EXPECT_EQ(pool.construct(1U), nullptr);
  for (std::size_t i = 0; i < kCapacity; ++i) ASSERT_EQ(*objects[i], i);
  EXPECT_TRUE(pool.invariants_hold());
}

TEST(ObjectPool, GivesThePlaceBackWhenAConstructorThrows) {
  struct Thrower {
    explicit Thrower(bool throws) {
      if (throws) throw std::runtime_error("no");
    }
  };
  ObjectPool<Thrower> pool(1);
  EXPECT_THROW(static_cast<void>(pool.construct(true)), std::runtime_error);
  EXPECT_EQ(pool.live(), 0U);
  const PooledObject<Thrower> object = pool.make(false);
  EXPECT_TRUE(object);
}

TEST(PooledObject, MovesAndEndsOnce) {
  ObjectPool<Counted> pool(3);
  PooledObject<Counted> first = pool.make(1);
  PooledObject<Counted> second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: what a moved-from handle holds is promised
  second = pool.make(2);
  EXPECT_EQ(Counted::alive, 1);
  EXPECT_EQ(second->number, 2);
  PooledObject<Counted>& same = second;
  second = std::move(same);
  EXPECT_TRUE(second) << "assigning a handle to itself keeps it";
  Counted* const object = second.detach();
  EXPECT_EQ(pool.live(), 1U);
  pool.destroy(object);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(ObjectPool, DestroysWhatIsLeftWhereAskedTo) {
  {
    ObjectPool<Counted> pool(100, PoolGrowth::kGrowing, LeftoverObjects::kDestroy);
    std::vector<Counted*> objects(50);
    for (int i = 0; i < 50; ++i) objects[i] = pool.construct(i);
    for (int i = 0; i < 50; i += 3) pool.destroy(objects[i]);
    EXPECT_EQ(Counted::alive, 33);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(ObjectPoolDeathTest, SaysHowManyObjectsAreOutWhenItEnds) {
  EXPECT_DEATH(
      {
        std::optional<ObjectPool<int>> pool(std::in_place, std::size_t{8});
        for (int i = 0; i < 3; ++i) static_cast<void>(pool->construct(i));
        pool.reset();
      },
      "^drey: object pool: destroyed with 3 out\n");
}

TEST(ObjectPoolDeathTest, NamesAnObjectDestroyedTwiceBeforeItsDestructorRuns) {
  struct Loud {
    ~Loud() {
      if (is_dead) std::fputs("destructor ran twice\n", stderr);
      is_dead = true;
    }
    bool is_dead = false;
  };
  ObjectPool<Loud> pool(4);
  Loud* const object = pool.construct();
  pool.destroy(object);
  EXPECT_DEATH(pool.destroy(object), "^drey: object pool: 0x[0-9a-f]+ given back twice\n");
}

TEST(ObjectPoolDeathTest, NamesForeignPointers) {
  ObjectPool<std::uint64_t> pool(4);
  ObjectPool<std::uint64_t> other(4);
  const PooledObject<std::uint64_t> object = pool.make(1U);
  const PooledObject<std::uint64_t> others = other.make(1U);
  std::uint64_t on_the_stack = 0;
  auto* const inside = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(object.get()) + 4);
  EXPECT_DEATH(pool.destroy(others.get()),
               "^drey: object pool: 0x[0-9a-f]+ given back, which is none");
  EXPECT_DEATH(pool.destroy(&on_the_stack), "which is none of this pool");
  EXPECT_DEATH(pool.destroy(inside), "which is none of this pool");
  EXPECT_DEATH(pool.destroy(object.get() + 4), "which is none of this pool") << "just behind";
  EXPECT_DEATH(pool.destroy(object.get() + 1), "given back, but was never taken");
}

TEST(ObjectPoolDeathTest, RefusesEverythingWithoutCapacity) {
  ObjectPool<int> pool(0);
  int object = 0;
  EXPECT_DEATH(pool.destroy(&object), "none of this pool");
}

TEST(ObjectPool, BehavesLikeAMapOfObjects) {
  for (const PoolGrowth growth : {PoolGrowth::kFixed, PoolGrowth::kGrowing}) {
    std::mt19937_64 random = seeded_random(11);
    ObjectPool<std::string> pool(3000, growth, LeftoverObjects::kDestroy);
    std::map<std::string*, std::string> model;
    std::vector<std::string*> order;
    for (int step = 0; step < 50'000; ++step) {
      const bool takes = below(random, 100) < (step / 10'000 % 2 == 0 ? 60U : 40U);
      if (takes) {
        const std::string text(below(random, 60), static_cast<char>('a' + below(random, 26)));
        std::string* const object = pool.construct(text);
        ASSERT_EQ(object == nullptr, model.size() == 3000);
        if (object == nullptr) continue;
        ASSERT_TRUE(model.emplace(object, text).second) << "a place handed out twice";
        order.push_back(object);
      } else if (!order.empty()) {
        std::swap(order[below(random, order.size())], order.back());
        ASSERT_EQ(*order.back(), model[order.back()]);
        model.erase(order.back());
        pool.destroy(order.back());
        order.pop_back();
      }
      ASSERT_EQ(pool.live(), model.size());
    }
    EXPECT_TRUE(pool.invariants_hold());
  }
}
}  // namespace
}  // namespace drey
