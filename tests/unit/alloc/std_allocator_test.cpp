// std_allocator_test.cpp: StdAllocator is an allocator by the standard's table, and containers work.
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>

#include "support/pattern.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace drey {
namespace {
template <typename T>
using Traits = std::allocator_traits<StdAllocator<T>>;

static_assert(std::is_same_v<Traits<int>::value_type, int>);
static_assert(std::is_same_v<Traits<int>::pointer, int*>);
static_assert(std::is_same_v<Traits<int>::rebind_alloc<char>, StdAllocator<char>>);
static_assert(Traits<int>::is_always_equal::value);
static_assert(Traits<int>::propagate_on_container_move_assignment::value);
static_assert(!Traits<int>::propagate_on_container_copy_assignment::value);
static_assert(!Traits<int>::propagate_on_container_swap::value);
static_assert(StdAllocator<int>() == StdAllocator<char>());
static_assert(!(StdAllocator<int>() != StdAllocator<char>(StdAllocator<int>())));
static_assert(Traits<int>::max_size({}) == PTRDIFF_MAX / sizeof(int));
static_assert(std::is_empty_v<StdAllocator<int>> &&
              std::is_nothrow_default_constructible_v<StdAllocator<int>> &&
              std::is_nothrow_copy_constructible_v<StdAllocator<int>>);
static_assert(sizeof(std::vector<int, StdAllocator<int>>) == sizeof(std::vector<int>));

/// The allocator itself in a constant expression.
constexpr int sum_of_constants() {
  StdAllocator<int> allocator;
  int* const numbers = Traits<int>::allocate(allocator, 3);
  int sum = 0;
  for (int index = 0; index < 3; ++index) {
    Traits<int>::construct(allocator, numbers + index, index + 1);
    sum += numbers[index];
  }
  for (int index = 0; index < 3; ++index) Traits<int>::destroy(allocator, numbers + index);
  Traits<int>::deallocate(allocator, numbers, 3);
  return sum;
}
static_assert(sum_of_constants() == 6);

TEST(StdAllocator, BacksEveryContainer) {
  std::vector<int, StdAllocator<int>> vector;
  std::deque<int, StdAllocator<int>> deque;
  std::list<int, StdAllocator<int>> list;
  std::set<int, std::less<>, StdAllocator<int>> set;
  std::map<int, int, std::less<>, StdAllocator<std::pair<const int, int>>> map;
  std::unordered_map<int, int, std::hash<int>, std::equal_to<>,
                     StdAllocator<std::pair<const int, int>>>
      table;
  std::basic_string<char, std::char_traits<char>, StdAllocator<char>> text;
  for (int number = 0; number < 10'000; ++number) {
    vector.push_back(number);
    deque.push_front(number);
    list.push_back(number);
    set.insert(number);
    map[number] = number;
    table[number] = number;
    text += static_cast<char>('a' + number % 26);
  }
  EXPECT_TRUE(drey_owns(vector.data()) && drey_owns(text.data()));
  EXPECT_TRUE(set.size() == 10'000 && map.size() == 10'000 && table.size() == 10'000);
  EXPECT_EQ(deque.back(), 0);
  EXPECT_EQ(text[25], 'z');
}

TEST(StdAllocator, MovesAContainersMemoryAlong) {
  std::vector<int, StdAllocator<int>> from(1000, 7);
  const int* const place = from.data();
  std::vector<int, StdAllocator<int>> to;
  to = std::move(from);
  EXPECT_EQ(to.data(), place);
  auto shared = std::allocate_shared<std::string>(StdAllocator<std::string>(), 100, 'x');
  EXPECT_EQ(shared->size(), 100u);
}

struct alignas(256) Wide {
  char bytes[256];
};
struct alignas(4096) Page {
  char bytes[4096];
};

TEST(StdAllocator, AlignsTypesBeyondMallocsPromise) {
  std::vector<Wide, StdAllocator<Wide>> wide(33);
  std::vector<Page, StdAllocator<Page>> pages(5);
  EXPECT_TRUE(test::aligned_to(wide.data(), 256) && test::aligned_to(pages.data(), 4096));
  std::map<int, Wide, std::less<>, StdAllocator<std::pair<const int, Wide>>> map;
  for (int number = 0; number < 100; ++number) {
    EXPECT_TRUE(test::aligned_to(&map[number], 256));
  }
}

TEST(StdAllocator, ThrowsWhatTheStandardAsksFor) {
  StdAllocator<std::uint64_t> allocator;
  EXPECT_THROW(static_cast<void>(allocator.allocate(SIZE_MAX)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(allocator.allocate(SIZE_MAX / 8 + 1)), std::bad_array_new_length);
  EXPECT_THROW(static_cast<void>(allocator.allocate(allocator.max_size())), std::bad_alloc);
  std::vector<int, StdAllocator<int>> vector(10, 1);
  EXPECT_THROW(vector.resize(vector.max_size() / 2), std::bad_alloc);
  EXPECT_EQ(vector.size(), 10u) << "unchanged";
}

/// Its constructor fails at the given one.
struct Fragile {
  static inline int made = 0;
  static inline int alive = 0;
  static inline int fails_at = 0;
  Fragile() {
    if (++made == fails_at) throw std::runtime_error("fragile");
    ++alive;
  }
  Fragile(const Fragile& /*other*/) : Fragile() {}
  ~Fragile() { --alive; }
  Fragile& operator=(const Fragile&) = default;
  char bytes[900];
};

TEST(StdAllocator, LeaksNothingWhereConstructorsThrow) {
  using Vector = std::vector<Fragile, StdAllocator<Fragile>>;
  for (int round = 1; round < 2000; ++round) {
    Fragile::made = 0;
    Fragile::fails_at = 1 + round % 50;
    EXPECT_THROW(Vector(50), std::runtime_error);
    ASSERT_EQ(Fragile::alive, 0);
  }
  // 2,000 rounds of 45 KB would be 90 MB if it leaked.
  EXPECT_LT(statistics().slab_bytes, std::size_t{20} << 20);
}

TEST(StdAllocator, AllocateAtLeastTellsOfTheRoomThatIsThereAnyway) {
  StdAllocator<float> allocator;
  const AllocationResult<float*> result = allocator.allocate_at_least(225);
  EXPECT_EQ(result.count, 228u) << "912 bytes";
  for (std::size_t index = 0; index < result.count; ++index) result.ptr[index] = 1.0F;
  allocator.deallocate(result.ptr, result.count);
  StdAllocator<Wide> wide;
  const AllocationResult<Wide*> aligned = wide.allocate_at_least(3);
  EXPECT_GE(aligned.count, 3u);
  EXPECT_LE(aligned.count * sizeof(Wide), drey_usable_size(aligned.ptr));
  wide.deallocate(aligned.ptr, 3);
}

TEST(StdAllocator, GivesBackInAnyThread) {
  auto vector = std::make_unique<std::vector<int, StdAllocator<int>>>(50'000, 3);
  std::thread([&vector] { vector.reset(); }).join();
  EXPECT_EQ(vector, nullptr);
}
}  // namespace
}  // namespace drey
