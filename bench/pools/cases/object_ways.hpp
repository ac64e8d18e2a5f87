// object_ways.hpp: the ways to make and end an object of 64 bytes; boost's object_pool only where the
// build found boost.
//
// boost::object_pool keeps its free list in order of addresses, so that it can destroy what is left:
// a destroy there is linear in the free objects before it.
// Read next: object_times.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "pools/cases/pool_cases.hpp"

#include <drey/pools/object_pool.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>

#if DREY_BENCH_BOOST
#include <boost/pool/object_pool.hpp>
#endif

namespace drey::bench {
/// What a node of a tree or an order in a book might be.
struct BenchObject {
  explicit BenchObject(std::uint64_t key) noexcept : numbers{key} {}
  std::uint64_t numbers[8];
};
inline constexpr std::size_t kObjectsMax = 100'000;

struct ObjectPoolWay {
  BenchObject* make(std::uint64_t key) { return pool.construct(key); }
  void end(BenchObject* object) { pool.destroy(object); }
  ObjectPool<BenchObject> pool{kObjectsMax};
};

struct GrowingObjectPoolWay {
  BenchObject* make(std::uint64_t key) { return pool.construct(key); }
  void end(BenchObject* object) { pool.destroy(object); }
  ObjectPool<BenchObject> pool{kObjectsMax, PoolGrowth::kGrowing};
};

struct MallocObjectWay {
  static BenchObject* make(std::uint64_t key) {
    void* const place = std::malloc(sizeof(BenchObject));
    return place == nullptr ? nullptr : ::new (place) BenchObject(key);
  }
  static void end(BenchObject* object) { std::free(object); }
};

struct UnsyncObjectWay {
  BenchObject* make(std::uint64_t key) {
    return ::new (pool.allocate(sizeof(BenchObject), alignof(BenchObject))) BenchObject(key);
  }
  void end(BenchObject* object) {
    pool.deallocate(object, sizeof(BenchObject), alignof(BenchObject));
  }
  std::pmr::unsynchronized_pool_resource pool{std::pmr::new_delete_resource()};
};

#if DREY_BENCH_BOOST
struct BoostObjectWay {
  BenchObject* make(std::uint64_t key) { return pool.construct(key); }
  void end(BenchObject* object) { pool.destroy(object); }
  boost::object_pool<BenchObject, boost::default_user_allocator_malloc_free> pool;
};
template <class Add>
void add_boost_object_way(Add add) {
  add.template operator()<BoostObjectWay>("boost_object");
}
#else
template <class Add>
void add_boost_object_way(Add /*add*/) {}
#endif

/// Calls add.operator()<Way>(name) for each way.
template <class Add>
void for_each_object_way(Add add) {
  add.template operator()<ObjectPoolWay>(kDreyWay);
  add.template operator()<GrowingObjectPoolWay>("drey_growing");
  add.template operator()<MallocObjectWay>(kMallocWay);
  add.template operator()<UnsyncObjectWay>("pmr_unsync");
  add_boost_object_way(add);
}
}  // namespace drey::bench
